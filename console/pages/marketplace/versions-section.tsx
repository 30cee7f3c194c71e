import { useSuspenseQuery } from '@tanstack/react-query';
import { listItems } from '../../client/list-items.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import styles from './marketplace-page.module.css';
import { type AppParams, publishedVersionsQuery } from './queries.ts';

/** The published versions of an app with their changes. Its publisher also sees the version of the application. */
export function VersionsSection({ params, isPublisher }: { params: AppParams; isPublisher: boolean }) {
  const { data } = useSuspenseQuery(publishedVersionsQuery(params));
  const versions = listItems(data);
  return (
    <section aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      {versions.length === 0 ? (
        <p className={styles.soft}>No version is published yet.</p>
      ) : (
        <TableRegion label="Table of published versions">
          <table className={table.table} aria-label="Published versions">
            <thead>
              <tr>
                <th>Version</th>
                <th>Change log</th>
                {isPublisher && <th>Version of the application</th>}
                <th>Published</th>
              </tr>
            </thead>
            <tbody>
              {versions.map(({ id, change_log, ref_app_version_id, created_at }) => (
                <tr key={id}>
                  <td>{id}</td>
                  <td>
                    <ChangeLog changes={change_log} />
                  </td>
                  {isPublisher && <td>{ref_app_version_id}</td>}
                  <td>
                    <RelativeTime at={created_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableRegion>
      )}
    </section>
  );
}

function ChangeLog({ changes }: { changes: readonly string[] }) {
  if (changes.length === 0) return '–';
  const entries = changes.map((text, place) => ({ text, key: `${place} ${text}` }));
  return (
    <ul className={styles.changes}>
      {entries.map(({ text, key }) => (
        <li key={key}>{text}</li>
      ))}
    </ul>
  );
}
