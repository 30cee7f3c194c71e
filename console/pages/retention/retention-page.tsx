import type { ApplicationStorage } from '@switchyard/contract/applications/retention.ts';
import { formatBytes, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { PolicyDialog } from './policy-dialog.tsx';
import { storageQuery } from './queries.ts';

/** Storage of each application, and how long its runs stay. */
export function RetentionPage() {
  usePageTitle('Retention');
  const { data } = useSuspenseQuery(storageQuery);
  const [edited, setEdited] = useState<string>();
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
        <TableRegion label="Table of applications">
          <table className={table.table} aria-label="Retention">
            <thead>
              <tr>
                <th>Application</th>
                <th className={table.number}>Runs</th>
                <th className={table.number}>Size of runs</th>
                <th className={table.number}>Inputs</th>
                <th className={table.number}>Executables</th>
                <th>Policy</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {data.items.map((item) => (
                <StorageRow key={item.application_id} item={item} onEdit={setEdited} />
              ))}
            </tbody>
          </table>
        </TableRegion>
      )}
      {edited !== undefined && <PolicyDialog application={edited} onClose={() => setEdited(undefined)} />}
    </>
  );
}

function StorageRow({ item, onEdit }: { item: ApplicationStorage; onEdit: (id: string) => void }) {
  const { application_id: application, keep_days } = item;
  return (
    <tr>
      <td>
        <Link to="/apps/$application" params={{ application }}>
          {application}
        </Link>
      </td>
      <td className={table.number}>{formatNumber(item.runs)}</td>
      <td className={table.number}>{formatBytes(item.run_bytes)}</td>
      <td className={table.number}>{formatBytes(item.input_bytes)}</td>
      <td className={table.number}>{formatBytes(item.executable_bytes)}</td>
      <td className="nowrap">
        {keep_days === null ? 'Runs stay' : `${keep_days} ${keep_days === 1 ? 'day' : 'days'}`}
      </td>
      <td className="row-action">
        <Button onPress={() => onEdit(application)} aria-label={`Change the policy of ${application}`}>
          Change
        </Button>
      </td>
    </tr>
  );
}
