import type { Input } from '@switchyard/contract/applications/inputs.ts';
import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { inputsQuery } from '../../client/inputs.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { LoadMore } from '../../ui/resources/load-more.tsx';
import { TableHead } from '../../ui/resources/table-head.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { useRight } from '../../ui/use-right.ts';
import { CreateInput } from './create-input.tsx';
import { InputSource } from './input-source.tsx';

const route = getRouteApi('/signed-in/apps/$application/inputs');

/** The managed inputs of an application. */
export function InputsPage() {
  const { application } = route.useParams();
  const list = useSuspenseInfiniteQuery(inputsQuery(application));
  const inputs = list.data.pages.flatMap(({ items }) => items);
  const canCreate = useRight('experiment');
  const [isCreating, setCreating] = useState(false);
  usePageTitle('Inputs', application);
  return (
    <>
      <PageHeader
        title="Inputs"
        description="Inputs under a name, which runs and experiments use again."
        actions={
          canCreate && (
            <Button kind="primary" onPress={() => setCreating(true)}>
              New input
            </Button>
          )
        }
      />
      {inputs.length === 0 ? (
        <EmptyState title="No input yet" command={formatCreateCommand(application)}>
          <p>An input stores its own copy of a file, or of what a run read. Create the first one.</p>
        </EmptyState>
      ) : (
        <InputsTable application={application} inputs={inputs} />
      )}
      <LoadMore list={list} />
      {isCreating && <CreateInput application={application} onClose={() => setCreating(false)} />}
    </>
  );
}

function formatCreateCommand(application: string): string {
  return formatCurl('createInput', {
    params: { application_id: application },
    body: { id: 'monday', run_id: 'RUN_ID' },
  });
}

function InputsTable({ application, inputs }: { application: string; inputs: readonly Input[] }) {
  return (
    <TableRegion label="Table of inputs">
      <table className={table.table} aria-label="Inputs">
        <TableHead texts={['Input', 'Format', 'Source', 'Created']} />
        <tbody>
          {inputs.map((input) => (
            <tr key={input.id}>
              <td>
                <Link
                  to="/apps/$application/inputs/$input"
                  params={{ application, input: input.id }}
                  className="row-name"
                >
                  {input.name}
                </Link>
                {input.name !== input.id && <code className="soft">{input.id}</code>}
              </td>
              <td>{input.format.input.type}</td>
              <td>
                <InputSource application={application} input={input} />
              </td>
              <td>
                <RelativeTime at={input.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}
