import { useSuspenseQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { applicationsQuery } from '../../client/applications.ts';
import { Button } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { useRight } from '../../ui/use-right.ts';
import { ApplicationRow } from './application-row.tsx';
import styles from './applications-page.module.css';

const CreateApplication = lazy(async () => ({
  default: (await import('./create-application.tsx')).CreateApplication,
}));

/** It packs and pushes apps, which no account with an application needs on its first page. */
const SampleGallery = lazy(async () => ({
  default: (await import('./sample-gallery.tsx')).SampleGallery,
}));

/** The applications of the account, newest first. */
export function ApplicationsPage() {
  usePageTitle('Applications');
  const { data: applications } = useSuspenseQuery(applicationsQuery);
  const canWrite = useRight('write');
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <PageHeader
        title="Applications"
        actions={
          canWrite && (
            <Button kind={applications.length === 0 ? 'plain' : 'primary'} onPress={() => setCreating(true)}>
              New application
            </Button>
          )
        }
      />
      <Suspense fallback={null}>
        {isCreating && <CreateApplication onClose={() => setCreating(false)} />}
      </Suspense>
      {applications.length === 0 ? (
        <Suspense fallback={null}>
          <SampleGallery />
        </Suspense>
      ) : (
        <TableRegion label="List of applications">
          <table className={`${table.table} ${styles.table}`}>
            <thead>
              <tr>
                <th>Application</th>
                <th>Last run</th>
                <th>Objective</th>
                <th>Duration</th>
                <th className={table.number}>Failed</th>
                <th>Active version</th>
              </tr>
            </thead>
            <tbody>
              {applications.map((application) => (
                <ApplicationRow key={application.id} application={application} />
              ))}
            </tbody>
          </table>
        </TableRegion>
      )}
    </>
  );
}
