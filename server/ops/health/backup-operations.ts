/** The operation that lists backups. The command makes them, because only the operator may choose where the keys go. */
import type { Backup } from '@switchyard/contract/account/backups.ts';
import { BACKUPS_MAX } from '@switchyard/contract/limits.ts';
import { managesServer } from '../../accounts/account/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { listBackups } from './backup-records.ts';
import type { BackupsTable } from './schema.ts';

export const getBackups: OperationHandler<'getBackups'> = async ({ database }, { caller }) => {
  const isManager = await managesServer(database.read, caller.role);
  const backups = await listBackups(database.read, BACKUPS_MAX);
  return { status: 200, body: { items: backups.map((backup) => formatBackup(backup, isManager)) } };
};

function formatBackup(backup: BackupsTable, isManager: boolean): Backup {
  const { id, rows, blobs, bytes, copied_bytes, verified_at } = backup;
  return {
    ...{ id, rows, blobs, bytes, copied_bytes },
    made_at: formatRfc3339(backup.made_at),
    finished_at: formatRfc3339(backup.finished_at),
    folder: isManager ? backup.folder : '',
    has_key: backup.has_key === 1,
    verified_at: verified_at === null ? null : formatRfc3339(verified_at),
    problem: isManager || backup.problem === '' ? backup.problem : 'The last check found a problem.',
  };
}
