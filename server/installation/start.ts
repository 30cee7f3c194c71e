/** The first and the second step of every start: look without changing anything, then bind database, folder and blobs. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobStore } from '../blobs/blob-store.ts';
import { ensureIdentity, InstallationIdentity, stopCleanUp } from '../blobs/identity.ts';
import type { Clock } from '../clock.ts';
import { type Config, ConfigError } from '../config.ts';
import type { Database } from '../database/database.ts';
import { lockDataFolder } from '../database/folder-lock.ts';
import { NotADatabaseError } from '../database/maintenance/stopped-database.ts';
import { archiveDamagedWal } from '../database/maintenance/wal-damage.ts';
import { sqlitePath } from '../database/open.ts';
import type { Log } from '../log.ts';
import type { Random } from '../random.ts';
import { restrictDataFolder } from './data-folder.ts';
import { type InstallationState, readInstallationState, writeFolderMarker } from './installation-state.ts';
import { withSettingName } from './setting-errors.ts';
import { findStartRefusal } from './start-refusal.ts';

/** SQLite's code for a malformed database. */
const SQLITE_CORRUPT = 11;

/** Throws ConfigError where a server must not start; nothing is changed either way. */
async function inspectInstallation(config: Config): Promise<InstallationState> {
  const sides = await readInstallationState(config).catch((error: unknown) => {
    const { errcode = 0 } = (error ?? {}) as { errcode?: number };
    if (!(error instanceof NotADatabaseError) && (errcode & 0xff) !== SQLITE_CORRUPT) throw error;
    throw new ConfigError(
      `The database ${sqlitePath(config.data)} is damaged: ${(error as Error).message}. Restore a backup into an empty data folder with \`npm run restore\`. Nothing was changed.`,
    );
  });
  const refusal = findStartRefusal(sides);
  if (refusal !== null) throw new ConfigError(refusal);
  return sides;
}

/**
 * Makes and locks the data folder, and inspects what the settings point to: a second time under the lock, and before it
 * only where no server has worked yet, so that not even a lock is left in a folder of somebody else.
 */
export async function lockAndInspectDataFolder(
  config: Config,
  closers: (() => Promise<void>)[],
): Promise<{ folderId: string; sides: InstallationState }> {
  const { data } = config;
  const unwritable = `SWITCHYARD_DATA is "${data}", where the server cannot keep its data`;
  if (!existsSync(join(data, 'lock'))) await inspectInstallation(config);
  await withSettingName(unwritable, () => mkdir(data, { recursive: true, mode: 0o700 }));
  const lock = await withSettingName(unwritable, async () => lockDataFolder(data));
  closers.push(async () => lock.release());
  const sides = await inspectInstallation(config);
  const keeps = { database: config.postgres === null, blobs: (config.s3 ?? config.sharedBlobs) === null };
  await withSettingName(unwritable, () => restrictDataFolder(data, keeps));
  return { folderId: lock.folderId, sides };
}

/** Call it before the database is opened. Returns why the clean-up has to stop, or null. */
export function archiveDamagedLog(
  config: Config,
  { database }: InstallationState,
  clock: Clock,
  log: Log,
): string | null {
  if (database.droppedCommits === 0) return null;
  const copy = archiveDamagedWal(sqlitePath(config.data), clock.now());
  log.error(
    { droppedCommits: database.droppedCommits, copy },
    'The log of the database is damaged: SQLite drops the commits behind the damage. Restore a backup, or run `npm run verify` and go on without them.',
  );
  return `the log of the database was damaged, and ${database.droppedCommits} commits in it were dropped; the damaged log is ${copy}`;
}

/** Binds the three by one id, the database first, so that a start that is cut short here can be repeated. */
export async function bindInstallation(
  parts: { config: Config; database: Database; clock: Clock; random: Random; log: Log },
  sides: InstallationState,
  trouble: string | null,
  openBlobs: () => Promise<BlobStore>,
): Promise<{ identity: InstallationIdentity; blobs: BlobStore }> {
  const { config, database, clock, random, log } = parts;
  const seenAt = sides.database.lastSeenAt ?? clock.now();
  const row = await ensureIdentity(database, { random, seenAt });
  if (trouble !== null) await stopCleanUp(database, trouble);
  await writeFolderMarker(config.data, row.id);
  const blobs = await openBlobs();
  return { identity: await InstallationIdentity.claim({ database, blobs, clock, log }, row), blobs };
}
