import { useSuspenseQuery } from '@tanstack/react-query';
import { RelativeTime } from '../../ui/relative-time.tsx';
import table from '../../ui/table.module.css';
import styles from './application-page.module.css';
import { instancesQuery, versionsQuery } from './queries.ts';

/** The versions of the application, newest first, with the instances that run each. */
export function VersionsSection({ application }: { application: string }) {
  const { data } = useSuspenseQuery(versionsQuery(application));
  const { data: found } = useSuspenseQuery(instancesQuery(application));
  const versions = Array.isArray(data) ? data : data.items;
  const instances = Array.isArray(found) ? found : found.items;
  return (
    <section aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      {versions.length === 0 ? (
        <p className={styles.hint}>
          No version yet. A version is an immutable name for the active executable, which instances run.
        </p>
      ) : (
        <div className={table.scroll}>
          <table className={table.table}>
            <thead>
              <tr>
                <th>Version</th>
                <th>Instances</th>
                <th>Pushed by</th>
                <th>Created</th>
              </tr>
            </thead>
            <tbody>
              {versions.map(({ id, name, executable, created_at }) => (
                <tr key={id}>
                  <td>
                    <bdi>{name}</bdi> {name !== id && <code>{id}</code>}
                  </td>
                  <td>
                    {instances
                      .filter(({ version_id }) => version_id === id)
                      .map((instance) => instance.name)
                      .join(', ') || '–'}
                  </td>
                  <td>{executable.user_email}</td>
                  <td>
                    <RelativeTime at={created_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
