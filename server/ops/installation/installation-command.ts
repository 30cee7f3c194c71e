/**
 * `npm run installation`: prints the installation of the database, the data folder and the blob store. It also prints
 * whether a server would start on them. `npm run installation -- adopt` makes all three the installation of the database.
 */
import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FolderInUseError } from '@switchyard/worker/folder-lock.ts';
import { ensureIdentity } from '../../platform/blobs/identity.ts';
import { openBlobs } from '../../platform/blobs/open-blob-store.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { ConfigError, readStorageConfig, type StorageConfig } from '../../platform/config.ts';
import { lockDataFolder } from '../../platform/database/folder-lock.ts';
import { migrate } from '../../platform/database/migrate.ts';
import { openDatabase } from '../../platform/database/open.ts';
import { createLog, errorMessage, type Log } from '../../platform/log.ts';
import { type Random, systemRandom } from '../../platform/random.ts';
import { migrations } from '../migrations.ts';
import { type InstallationState, readInstallationState, writeFolderMarker } from './installation-state.ts';
import { archiveDamagedLog } from './start.ts';
import { findAdoptionRefusal, findStartRefusal } from './start-refusal.ts';

const USAGE =
  'Usage: npm run installation [-- adopt: make data folder and blobs the installation of the database after a refused start]';
const NONE = '(none)';

/** Files that belong to the accounts of an earlier database. */
const ACCOUNT_FILES = ['root-token', 'first-run.json'];

function formatState({ database, folder, blobs }: InstallationState): string {
  const rows = [
    [
      'database',
      database.identity?.id ?? NONE,
      `${database.name}, ${database.state === 'empty' ? 'empty' : 'with data'}`,
    ],
    ['data folder', folder.installation ?? NONE, folder.path],
    ['blobs', blobs.marker?.installation ?? NONE, `${blobs.name}, ${blobs.isEmpty ? 'empty' : 'with blobs'}`],
  ];
  const stopped = database.identity?.clean_up_stopped;
  return [
    ...rows.map(([part = '', id = '', where = '']) => `${part.padEnd(12)}${id.padEnd(32)}${where}`),
    ...(stopped ? [`Clean-up of blobs without a row is stopped: ${stopped}.`] : []),
  ].join('\n');
}

/** Returns the exit code and the text: 0 when a server may start, else 1. */
export async function runInstallationCommand(
  args: readonly string[],
  config: StorageConfig,
): Promise<{ code: 0 | 1; output: string }> {
  if (args[0] === 'adopt') {
    const { id, renamedFiles: renamed } = await adoptInstallation(config, {
      clock: systemClock,
      random: systemRandom,
      log: createLog('error'),
    });
    return {
      code: 0,
      output: [
        `Database, data folder and blobs now belong to the installation ${id}.`,
        ...renamed.map((name) => `Renamed file of the earlier installation: ${name}.`),
        'Blobs that the database does not name move to the trash within two hours of the next start. They are removed a week later.',
      ].join('\n'),
    };
  }
  const sides = await readInstallationState(config);
  const refusal = findStartRefusal(sides);
  return refusal === null
    ? { code: 0, output: `${formatState(sides)}\nA server may start.` }
    : { code: 1, output: `${formatState(sides)}\n${refusal}` };
}

async function main(): Promise<void> {
  let args: string[];
  try {
    args = parseArgs({ allowPositionals: true, options: {} }).positionals;
    if (args.length > 1 || (args[0] !== undefined && args[0] !== 'adopt'))
      throw new Error(`"${args.join(' ')}" is not a command. Give adopt, or nothing.`);
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n${USAGE}\n`);
    process.exitCode = 2;
    return;
  }
  try {
    const { code, output } = await runInstallationCommand(args, readStorageConfig());
    process.stdout.write(`${output}\n`);
    process.exitCode = code;
  } catch (error) {
    const isKnown = error instanceof ConfigError || error instanceof FolderInUseError;
    process.stderr.write(`${isKnown ? error.message : `The command failed: ${errorMessage(error)}`}\n`);
    process.exitCode = 1;
  }
}

if (import.meta.main) await main();

/** The adopted installation. */
interface AdoptionResult {
  id: string;
  /** New names of files that belonged to another installation. */
  renamedFiles: string[];
}

/**
 * Adopts data folder and blobs. Throws ConfigError when that is impossible, and FolderInUseError while a server
 * runs. It is for an operator who knows the reason of a refused start and wants to continue.
 */
async function adoptInstallation(
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
