import { useSuspenseQuery } from '@tanstack/react-query';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import table from '../../ui/table.module.css';
import { applicationsQuery } from './queries.ts';

/** The applications of the account, newest first. */
export function ApplicationsPage() {
  usePageTitle('Applications');
  const { data } = useSuspenseQuery(applicationsQuery);
  const applications = Array.isArray(data) ? data : data.items;
  return (
    <>
      <PageHeader title="Applications" />
      {applications.length === 0 ? (
        <EmptyState title="No application yet" command="npm run push -- path/to/app --app my-app">
          <p>An application holds the versions and runs of one decision model. Push a first one.</p>
        </EmptyState>
      ) : (
        <div className={table.scroll}>
          <table className={table.table}>
            <thead>
              <tr>
                <th>Application</th>
                <th>Description</th>
                <th>Default instance</th>
                <th>Changed</th>
              </tr>
            </thead>
            <tbody>
              {applications.map((application) => (
                <tr key={application.id}>
                  <td>{application.name}</td>
                  <td>{application.description}</td>
                  <td>{application.default_instance || 'latest'}</td>
                  <td>
                    <RelativeTime at={application.updated_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
