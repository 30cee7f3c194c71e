import type { ApplicationStorage } from '@switchyard/contract/applications/retention.ts';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApplicationLink } from '../../ui/application-link.tsx';
import { Button } from '../../ui/button.tsx';
import { createNumberColumn, DataTable } from '../../ui/data-table/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { PolicyDialog } from './policy-dialog.tsx';
import { storageQuery } from './queries.ts';

/** Storage of each application, and how long its runs stay. */
export function RetentionPage() {
  usePageTitle('Retention');
  const { data } = useSuspenseQuery(storageQuery);
  const [edited, setEdited] = useState<ApplicationStorage>();
  return (
    <>
      <PageHeader
        title="Retention"
        description={
          <>
            Storage of each application, and how long its runs stay. Measured{' '}
            <RelativeTime at={data.measured_at} />.
          </>
        }
      />
      {data.items.length === 0 ? (
        <EmptyState
          title="No application stores anything"
          command={formatCurl('createApplication', { body: { id: 'my-app', name: 'My app' } })}
        >
          <p>Create an application first. Its storage and its policy appear here.</p>
        </EmptyState>
      ) : (
        <DataTable<ApplicationStorage>
          label="Retention"
          rows={data.items}
          keyOf={({ application_id }) => application_id}
          columns={[
            {
              title: 'Application',
              sortBy: ({ application_name }) => application_name,
              cell: ({ application_id, application_name }) => (
                <ApplicationLink id={application_id} name={application_name} />
              ),
            },
            createNumberColumn<ApplicationStorage>('Runs', ({ runs }) => runs),
            createNumberColumn<ApplicationStorage>('Size of runs', ({ run_bytes }) => run_bytes, formatBytes),
            createNumberColumn<ApplicationStorage>('Inputs', ({ input_bytes }) => input_bytes, formatBytes),
            createNumberColumn<ApplicationStorage>(
              'Executables',
              ({ executable_bytes }) => executable_bytes,
              formatBytes,
            ),
            {
              title: 'Policy',
              sortBy: ({ keep_days }) => keep_days,
              cell: ({ keep_days }) =>
                keep_days === null ? 'Runs stay' : `${keep_days} ${keep_days === 1 ? 'day' : 'days'}`,
            },
            {
              title: 'Change',
              kind: 'actions',
              cell: (storage) => (
                <Button
                  kind="quiet"
                  onPress={() => setEdited(storage)}
                  aria-label={`Change the policy of ${storage.application_id}`}
                >
                  Change
                </Button>
              ),
            },
          ]}
        />
      )}
      {edited && <PolicyDialog storage={edited} onClose={() => setEdited(undefined)} />}
    </>
  );
}
