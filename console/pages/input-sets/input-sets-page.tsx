import type { InputSet } from '@switchyard/contract/applications/input-sets.ts';
import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { LoadMore } from '../../ui/resources/load-more.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { useRight } from '../../ui/use-right.ts';
import { CreateInputSet } from './create-input-set.tsx';
import { describeSource } from './describe-source.ts';
import styles from './input-sets-page.module.css';
import { inputSetsQuery } from './queries.ts';

const route = getRouteApi('/signed-in/apps/$application/input-sets');

/** The input sets of an application. */
export function InputSetsPage() {
  const { application } = route.useParams();
  const list = useSuspenseInfiniteQuery(inputSetsQuery(application));
  const sets = list.data.pages.flatMap(({ items }) => items);
  const canCreate = useRight('experiment');
  const [isCreating, setCreating] = useState(false);
  usePageTitle('Input sets', application);
  return (
    <>
      <PageHeader
        title="Input sets"
        description="The data of experiments: inputs that are compared together."
        actions={
          canCreate && (
            <Button kind="primary" onPress={() => setCreating(true)}>
              New input set
            </Button>
          )
        }
      />
      {sets.length === 0 ? (
        <EmptyState title="No input set yet" command={formatCreateCommand(application)}>
          <p>A set copies inputs from managed inputs or from runs. Experiments run on each of them.</p>
        </EmptyState>
      ) : (
        <InputSetsTable application={application} sets={sets} />
      )}
      <LoadMore list={list} />
      {isCreating && <CreateInputSet application={application} onClose={() => setCreating(false)} />}
    </>
  );
}

function formatCreateCommand(application: string): string {
  return formatCurl('createInputSet', {
    params: { application_id: application },
    body: { id: 'last-day', name: 'The last day', instance_id: 'default' },
  });
}

function InputSetsTable({ application, sets }: { application: string; sets: readonly InputSet[] }) {
  return (
    <TableRegion label="Table of input sets">
      <table className={table.table} aria-label="Input sets">
        <thead>
          <tr>
            <th>Input set</th>
            <th className={table.number}>Inputs</th>
            <th>Source</th>
            <th>Created</th>
          </tr>
        </thead>
        <tbody>
          {sets.map((set) => (
            <tr key={set.id}>
              <td>
                <Link
                  to="/apps/$application/input-sets/$inputSet"
                  params={{ application, inputSet: set.id }}
                  className={styles.name}
                >
                  {set.name}
                </Link>
                {set.name !== set.id && <code className="soft">{set.id}</code>}
              </td>
              <td className={table.number}>{set.inputs.length}</td>
              <td>{describeSource(set)}</td>
              <td>
                <RelativeTime at={set.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}
