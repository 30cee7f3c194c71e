/**
 * Makes the database, the data folder and the blob store that the settings name one installation: that of the database. It
 * is for an operator who knows the reason of a refused start and wants to continue.
 */
import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureIdentity } from '../../platform/blobs/identity.ts';
import { openBlobs } from '../../platform/blobs/open-blob-store.ts';
import type { Clock } from '../../platform/clock.ts';
import { ConfigError, type StorageConfig } from '../../platform/config.ts';
import { lockDataFolder } from '../../platform/database/folder-lock.ts';
import { migrate } from '../../platform/database/migrate.ts';
import { openDatabase } from '../../platform/database/open.ts';
import type { Log } from '../../platform/log.ts';
import type { Random } from '../../platform/random.ts';
import { migrations } from '../migrations.ts';
import { readInstallationState, writeFolderMarker } from './installation-state.ts';
import { archiveDamagedLog } from './start.ts';
import { findAdoptionRefusal } from './start-refusal.ts';

/** Files that belong to the accounts of an earlier database. */
const ACCOUNT_FILES = ['root-token', 'first-run.json'];

/** The adopted installation. */
export interface AdoptionResult {
  id: string;
  /** New names of files that belonged to another installation. */
  renamedFiles: string[];
}

/** Adopts data folder and blobs. Throws ConfigError when that is impossible, and FolderInUseError while a server runs. */
export async function adoptInstallation(
  config: StorageConfig,
  { clock, random, log }: { clock: Clock; random: Random; log: Log },
): Promise<AdoptionResult> {
  const refusal = findAdoptionRefusal(await readInstallationState(config));
  if (refusal !== null) throw new ConfigError(refusal);
  await mkdir(config.data, { recursive: true, mode: 0o700 });
  const lock = lockDataFolder(config.data);
  try {
    const sides = await readInstallationState(config);
    const now = clock.now();
    await archiveDamagedLog(config, sides, clock, log);
    const database = await openDatabase(config, log);
    try {
      await migrate(database, migrations);
      const { id } = await ensureIdentity(database, { random, seenAt: now });
      const generation =
        Math.max(sides.database.identity?.generation ?? 0, sides.blobs.marker?.generation ?? 0) + 1;
      await database.transact((tx) =>
        tx
          .updateTable('installation_identity')
          .set({ generation, seen_at: now, clean_up_stopped: null })
          .execute(),
      );
      const renamed = sides.database.hasAccounts ? [] : await renameAccountFiles(config.data, now);
      await writeFolderMarker(config.data, id);
      const blobs = await openBlobs(config, lock.folderId, clock);
      await blobs.writeMarker({ installation: id, generation, mayBeEmpty: sides.blobs.isEmpty });
      return { id, renamedFiles: renamed };
    } finally {
      await database.close();
    }
  } finally {
    lock.release();
  }
}

async function renameAccountFiles(folder: string, now: number): Promise<string[]> {
  const renamed: string[] = [];
  for (const name of ACCOUNT_FILES) {
    if (!existsSync(join(folder, name))) continue;
    const renamedName = `${name}.before-${new Date(now).toISOString().replaceAll(':', '-')}`;
    await rename(join(folder, name), join(folder, renamedName));
    renamed.push(renamedName);
  }
  return renamed;
}
