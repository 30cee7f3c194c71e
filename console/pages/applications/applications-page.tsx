import { useSuspenseQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { applicationsQuery } from '../../client/applications.ts';
import { Button } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import table from '../../ui/table.module.css';
import { useRight } from '../../ui/use-right.ts';
import { ApplicationRow } from './application-row.tsx';
import styles from './applications-page.module.css';
import { SampleGallery } from './sample-gallery.tsx';

const CreateApplication = lazy(async () => ({
  default: (await import('./create-application.tsx')).CreateApplication,
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
        <SampleGallery />
      ) : (
        <div className={table.scroll}>
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
        </div>
      )}
    </>
  );
}
