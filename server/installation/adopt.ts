/**
 * Makes the database, the data folder and the blob store that the settings name one installation: that of the database.
 * For the operator who has read why a start was refused and wants to go on all the same.
 */
import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { migrations } from '../api/migrations.ts';
import { ensureIdentity } from '../blobs/identity.ts';
import { openBlobs } from '../blobs/open.ts';
import type { Clock } from '../clock.ts';
import { type Config, ConfigError } from '../config.ts';
import { lockFolder } from '../database/folder-lock.ts';
import { migrate } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import type { Log } from '../log.ts';
import type { Random } from '../random.ts';
import { unusable } from './rules.ts';
import { markFolder, readSides } from './sides.ts';
import { keepDamagedLog } from './start.ts';

/** They belong to the accounts of the database that they were made with. */
const OF_ACCOUNTS = ['root-token', 'first-run.json'];

export interface Adopted {
  id: string;
  /** New names of files that belonged to another installation. */
  renamed: string[];
}

/** Throws ConfigError for what cannot be adopted, FolderTakenError while a server works in the data folder. */
export async function adoptInstallation(
  config: Config,
  { clock, random, log }: { clock: Clock; random: Random; log: Log },
): Promise<Adopted> {
  const before = unusable(await readSides(config));
  if (before !== null) throw new ConfigError(before);
  await mkdir(config.data, { recursive: true, mode: 0o700 });
  const lock = lockFolder(config.data);
  try {
    const sides = await readSides(config);
    const now = clock.now();
    keepDamagedLog(config, sides, clock, log);
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
      const renamed = sides.database.hasRows ? [] : await setAside(config.data, now);
      await markFolder(config.data, id);
      const blobs = await openBlobs(config, lock.folderId, clock);
      await blobs.writeMarker({ installation: id, generation, mayBeEmpty: sides.blobs.isEmpty });
      return { id, renamed };
    } finally {
      await database.close();
    }
  } finally {
    lock.release();
  }
}

async function setAside(folder: string, now: number): Promise<string[]> {
  const renamed: string[] = [];
  for (const name of OF_ACCOUNTS) {
    if (!existsSync(join(folder, name))) continue;
    const aside = `${name}.before-${new Date(now).toISOString().replaceAll(':', '-')}`;
    await rename(join(folder, name), join(folder, aside));
    renamed.push(aside);
  }
  return renamed;
}
