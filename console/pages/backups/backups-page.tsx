import type { Backup } from '@switchyard/contract/account/backups.ts';
import {
  formatBytes,
  formatDuration,
  formatNumber,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { CopyButton } from '../../ui/copy-button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { quoteShell } from '../../ui/forms/quote-shell.ts';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import styles from './backups-page.module.css';
import { backupsQuery } from './queries.ts';

/** An installation with a nightly backup never has an older one, also when one night fails. */
const FRESH_MS = 50 * 60 * 60 * 1000;
const BACKUP_COMMAND = 'npm run backup -- /backups/switchyard --keep 14';

/** The backups of the server with age, size and check, and the commands that make, check and restore one. */
export function BackupsPage() {
  usePageTitle('Backups');
  const { data } = useSuspenseQuery(backupsQuery);
  const [last] = data.items;
  return (
    <>
      <PageHeader
        title="Backups"
        description={
          last ? (
            <>
              The last backup was made <RelativeTime at={last.made_at} />.
            </>
          ) : (
            'Copies of the database, the blobs and the keys, from which you can restore the server.'
          )
        }
      />
      {last && <Warnings last={last} />}
      {last ? (
        <>
          <BackupsTable backups={data.items} />
          <Commands folder={last.folder} />
        </>
      ) : (
        <EmptyState title="No backup yet" command={BACKUP_COMMAND}>
          <p>
            Make one on the machine of the server, in the folder of the repository. The server keeps running:
          </p>
        </EmptyState>
      )}
    </>
  );
}

function Warnings({ last }: { last: Backup }) {
  const isOld = Date.now() - Date.parse(last.made_at) > FRESH_MS;
  if (!isOld && last.problem === '') return null;
  return (
    <div className={styles.warnings}>
      {last.problem !== '' && <Notice kind="error">{last.problem}</Notice>}
      {isOld && (
        <Notice kind="warning">
          The last backup is more than two days old. Changes since then would be lost with the disk.
        </Notice>
      )}
    </div>
  );
}

function BackupsTable({ backups }: { backups: readonly Backup[] }) {
  return (
    <DataTable
      label="Backups"
      rows={backups}
      columns={[
        { title: 'Made', cell: ({ made_at }) => <RelativeTime at={made_at} /> },
        {
          title: 'Folder',
          onPhone: 'hidden',
          hover: ({ folder }) => folder,
          cell: ({ folder }) => (folder === '' ? '–' : <code>{folder}</code>),
        },
        { title: 'Size', kind: 'number', cell: ({ bytes }) => formatBytes(bytes) },
        {
          title: 'New',
          kind: 'number',
          onPhone: 'hidden',
          cell: ({ copied_bytes }) => formatBytes(copied_bytes),
        },
        { title: 'Rows', kind: 'number', onPhone: 'hidden', cell: ({ rows }) => formatNumber(rows) },
        {
          title: 'Took',
          kind: 'number',
          onPhone: 'hidden',
          cell: ({ finished_at, made_at }) => formatDuration(Date.parse(finished_at) - Date.parse(made_at)),
        },
        { title: 'Checked', onPhone: 'plain', cell: (backup) => <Check backup={backup} /> },
        { title: 'Master key', cell: ({ has_key }) => (has_key ? 'Inside' : 'Not inside') },
      ]}
    />
  );
}

function Check({ backup: { verified_at: at, problem } }: { backup: Backup }) {
  if (at === null) return 'Never';
  return (
    <>
      {problem === '' ? 'Whole, ' : <strong className="bad">Damaged, </strong>}
      <RelativeTime at={at} />
    </>
  );
}

/** The commands, which run on the machine of the server. A browser must not choose where the keys of the server go. */
function Commands({ folder }: { folder: string }) {
  const quoted = folder === '' ? '/backups/switchyard' : quoteShell(folder);
  const parent = folder === '' ? quoted : quoteShell(folder.replace(/\/[^/]*$/, '') || '/');
  return (
    <section className={styles.commands} aria-labelledby="commands">
      <h2 id="commands">Commands</h2>
      <p>
        A backup holds the keys of the server, so it is made on the server's machine and not from a browser.
        Run these in the folder of the repository, with the settings of the server.
      </p>
      <dl>
        <Command name="Back up now" command={`npm run backup -- ${parent}`} />
        <Command name="Check the last backup" command={`npm run restore -- ${quoted} --check`} />
        <Command
          name="Restore into an empty data folder"
          command={`SWITCHYARD_DATA=/var/lib/switchyard npm run restore -- ${quoted}`}
        />
      </dl>
    </section>
  );
}

function Command({ name, command }: { name: string; command: string }) {
  return (
    <div className={styles.command}>
      <dt>{name}</dt>
      <dd>
        <code>{command}</code>
        <CopyButton text={command} label={`Copy the command: ${name}`} />
      </dd>
    </div>
  );
}
