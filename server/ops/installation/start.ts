/** The first two steps of every start: inspect without a change, then bind database, data folder and blobs. */
import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobReader, BlobStore } from '../../platform/blobs/blob-store.ts';
import { ensureIdentity, InstallationIdentity, stopCleanUp } from '../../platform/blobs/identity.ts';
import { blobsFolder } from '../../platform/blobs/open-blob-store.ts';
import type { Clock } from '../../platform/clock.ts';
import { ConfigError, type StorageConfig } from '../../platform/config.ts';
import type { Database } from '../../platform/database/database.ts';
import { lockDataFolder } from '../../platform/database/folder-lock.ts';
import { NotADatabaseError } from '../../platform/database/maintenance/stopped-database.ts';
import { archiveDamagedWal, describeWalDamage } from '../../platform/database/maintenance/wal-damage.ts';
import { sqlitePath } from '../../platform/database/open.ts';
import { isDatabaseDamaged } from '../../platform/database/transient-errors.ts';
import { errorMessage, type Log } from '../../platform/log.ts';
import type { Random } from '../../platform/random.ts';
import { type InstallationState, readInstallationState, writeFolderMarker } from './installation-state.ts';
import { withSettingName } from './setting-errors.ts';
import { findStartRefusal } from './start-refusal.ts';

/** Names of the server's files. The runner sets the modes of its own folder. */
const SERVER_FILES =
  /^(switchyard\.db.*|blobs|spool|master-key|root-token|installation\.json|first-run\.json|lock.*)$/;
const TRAVERSE_MODE = 0o111;

/**
 * Restricts the data folder; call it under its lock. For an ordinary user the mode of the folder is enough. As root, an app
 * without a sandbox has a user of its own, which needs to traverse the folder to that of its run. The folder then admits
 * traversal, and each file of the server is restricted.
 */
async function restrictDataFolder(
  folder: string,
  contents: { database: boolean; blobs: boolean },
): Promise<void> {
  if (process.getuid?.() !== 0) return;
  // SQLite creates its other files with the mode of this one.
  if (contents.database) await (await open(sqlitePath(folder), 'a', 0o600)).close();
  if (contents.blobs) await mkdir(blobsFolder({ data: folder, sharedBlobs: null }), { recursive: true });
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!SERVER_FILES.test(entry.name) || entry.isSymbolicLink()) continue;
    await chmod(join(folder, entry.name), entry.isDirectory() ? 0o700 : 0o600);
  }
  const { mode } = await lstat(folder);
  if ((mode & TRAVERSE_MODE) !== TRAVERSE_MODE) await chmod(folder, (mode & 0o777) | TRAVERSE_MODE);
}

/** The blobs of a simulated machine. */
interface BlobMachine {
  openBlobs(): BlobReader;
}

/** Reads the state without a change. Throws ConfigError when a server must not start. */
async function inspectInstallation(config: StorageConfig, machine?: BlobMachine): Promise<InstallationState> {
  const sides = await readInstallationState(config, machine && (async () => machine.openBlobs())).catch(
    (error: unknown) => {
      if (!(error instanceof NotADatabaseError) && !isDatabaseDamaged(error)) throw error;
      throw new ConfigError(
        `The database ${sqlitePath(config.data)} is damaged: ${errorMessage(error)}. Restore a backup into an empty data folder with \`npm run restore\`. Nothing was changed.`,
      );
    },
  );
  const refusal = findStartRefusal(sides);
  if (refusal !== null) throw new ConfigError(refusal);
  return sides;
}

/**
 * Creates and locks the data folder, and inspects the installation under the lock. In a folder without a lock it inspects it
 * before too, so that a refused start creates no lock file in a folder of another program. Throws ConfigError when a server
 * must not start. `machine` replaces the blobs that the settings name.
 */
export async function lockAndInspectDataFolder(
  config: StorageConfig,
  closers: (() => Promise<void>)[],
  machine?: BlobMachine,
): Promise<{ folderId: string; sides: InstallationState }> {
  const { data } = config;
  const unwritable = `SWITCHYARD_DATA is "${data}", where the server cannot store its data`;
  if (!existsSync(join(data, 'lock'))) await inspectInstallation(config, machine);
  await withSettingName(unwritable, () => mkdir(data, { recursive: true, mode: 0o700 }));
  const lock = await withSettingName(unwritable, async () => lockDataFolder(data));
  closers.push(async () => lock.release());
  const sides = await inspectInstallation(config, machine);
  const contents = { database: config.postgres === null, blobs: (config.s3 ?? config.sharedBlobs) === null };
  await withSettingName(unwritable, () => restrictDataFolder(data, contents));
  return { folderId: lock.folderId, sides };
}

/**
 * Archives the WAL when it is damaged; call it before the database is opened. Returns the reason to stop the clean-up, or
 * null.
 */
export async function archiveDamagedLog(
  config: StorageConfig,
  { database }: InstallationState,
  clock: Clock,
  log: Log,
): Promise<string | null> {
  const { walDamage } = database;
  if (walDamage === null) return null;
  const path = sqlitePath(config.data);
  const copy = await withSettingName(
    `SWITCHYARD_DATA is "${config.data}", where ${describeWalDamage(walDamage)}. The server overwrites the log and cannot copy it before`,
    async () => archiveDamagedWal(path, clock.now()),
  );
  const reason = `${describeWalDamage(walDamage)}${copy === null ? '' : `; the copy of the log is ${copy}`}`;
  const event =
    walDamage.wereAcknowledged === true ? 'SQLite WAL damaged' : 'SQLite WAL ends in unreadable commits';
  log.error({ ...walDamage, copy }, `${event}; run \`npm run verify\`, which lists missing content`);
  return reason;
}

/** Writes the id to the database first, then to data folder and blobs, so that an interrupted start can be repeated. */
export async function bindInstallation(
  parts: { config: StorageConfig; database: Database; clock: Clock; random: Random; log: Log },
  cleanUpBlocker: string | null,
  openBlobs: () => Promise<BlobStore>,
): Promise<{ identity: InstallationIdentity; blobs: BlobStore }> {
  const { config, database, clock, random, log } = parts;
  const row = await ensureIdentity(database, { random, seenAt: clock.now() });
  if (cleanUpBlocker !== null) await stopCleanUp(database, cleanUpBlocker);
  await writeFolderMarker(config.data, row.id);
  const blobs = await openBlobs();
  return { identity: await InstallationIdentity.claim({ database, blobs, clock, log }, row), blobs };
}
