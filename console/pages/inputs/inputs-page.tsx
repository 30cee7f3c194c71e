import type { Input } from '@switchyard/contract/applications/inputs.ts';
import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { inputsQuery } from '../../client/inputs.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
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
      <MoreRows list={list} count={inputs.length} noun="input" />
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
    <DataTable
      label="Inputs"
      rows={inputs}
      columns={[
        {
          title: 'Input',
          hover: ({ name }) => name,
          cell: ({ id, name }) => (
            <>
              <Link to="/apps/$application/inputs/$input" params={{ application, input: id }}>
                <bdi>{name}</bdi>
              </Link>{' '}
              {name !== id && <code className="soft">{id}</code>}
            </>
          ),
        },
        { title: 'Format', onPhone: 'plain', cell: ({ format }) => format.input.type },
        {
          title: 'Source',
          onPhone: 'hidden',
          cell: (input) => <InputSource application={application} input={input} />,
        },
        {
          title: 'Created',
          kind: 'number',
          onPhone: 'end',
          cell: ({ created_at }) => <RelativeTime at={created_at} />,
        },
      ]}
    />
  );
}
