import type { MarketplaceVersion } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { listItems } from '../../client/list-items.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
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
        <DataTable
          label="Published versions"
          rows={versions}
          columns={[
            { title: 'Version', cell: ({ id }) => id },
            {
              title: 'Change log',
              wraps: true,
              onPhone: 'plain',
              hover: ({ change_log }) => change_log.join('\n'),
              cell: ({ change_log }) => <ChangeLog changes={change_log} />,
            },
            isPublisher && {
              title: 'Version of the application',
              onPhone: 'hidden',
              cell: ({ ref_app_version_id }) => ref_app_version_id,
            },
            {
              title: 'Published',
              kind: 'number',
              onPhone: 'end',
              cell: ({ created_at }) => <RelativeTime at={created_at} />,
            },
            canEdit && {
              title: 'Actions',
              kind: 'actions',
              cell: (version) => (
                <Button
                  kind="quiet"
                  aria-label={`Edit change log of ${version.id}`}
                  onPress={() => setEdited(version)}
                >
                  Edit
                </Button>
              ),
            },
          ]}
        />
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
