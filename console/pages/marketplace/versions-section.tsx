import type { MarketplaceVersion } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { listItems } from '../../client/list-items.ts';
import { Button } from '../../ui/button.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { useRight } from '../../ui/use-right.ts';
import { EditChangeLog } from './edit-change-log.tsx';
import styles from './marketplace-page.module.css';
import { type AppParams, publishedVersionsQuery } from './queries.ts';

/** The published versions of an app with their changes. Its publisher also sees the version of the application. */
export function VersionsSection({ params, isPublisher }: { params: AppParams; isPublisher: boolean }) {
  const { data } = useSuspenseQuery(publishedVersionsQuery(params));
  const versions = listItems(data);
  const canEdit = useRight('account') && isPublisher;
  const [edited, setEdited] = useState<MarketplaceVersion>();
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
                {canEdit && <th>Actions</th>}
              </tr>
            </thead>
            <tbody>
              {versions.map((version) => (
                <tr key={version.id}>
                  <td>{version.id}</td>
                  <td>
                    <ChangeLog changes={version.change_log} />
                  </td>
                  {isPublisher && <td>{version.ref_app_version_id}</td>}
                  <td>
                    <RelativeTime at={version.created_at} />
                  </td>
                  {canEdit && (
                    <td>
                      <Button
                        kind="quiet"
                        aria-label={`Edit change log of ${version.id}`}
                        onPress={() => setEdited(version)}
                      >
                        Edit
                      </Button>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </TableRegion>
      )}
      {edited && <EditChangeLog params={params} version={edited} onClose={() => setEdited(undefined)} />}
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
