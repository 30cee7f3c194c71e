import type { InputSet } from '@switchyard/contract/applications/input-sets.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { useRight } from '../../ui/use-right.ts';
import { CreateInputSet } from './create-input-set.tsx';
import { describeSource } from './describe-source.ts';
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
      <MoreRows list={list} count={sets.length} noun="input set" />
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
    <DataTable
      label="Input sets"
      rows={sets}
      columns={[
        {
          title: 'Input set',
          hover: ({ name }) => name,
          cell: ({ id, name }) => (
            <>
              <Link to="/apps/$application/input-sets/$inputSet" params={{ application, inputSet: id }}>
                <bdi>{name}</bdi>
              </Link>{' '}
              {name !== id && <code className="soft">{id}</code>}
            </>
          ),
        },
        { title: 'Inputs', kind: 'number', cell: ({ inputs }) => formatNumber(inputs.length) },
        { title: 'Source', onPhone: 'plain', cell: (set) => describeSource(set) },
        {
          title: 'Created',
          kind: 'number',
          onPhone: 'plain',
          cell: ({ created_at }) => <RelativeTime at={created_at} />,
        },
      ]}
    />
  );
}
