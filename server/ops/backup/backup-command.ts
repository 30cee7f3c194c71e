/**
 * `npm run backup -- <folder>`: backs up the server that the settings name, while it runs, at a low processor
 * priority. Not the lowest: beside busy processes that one gets a seventieth of a core, and the snapshot of a PostgreSQL
 * database stays open for minutes.
 */
import { constants, setPriority } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import { systemClock } from '../../platform/clock.ts';
import { readStorageConfig } from '../../platform/config.ts';
import { systemRandom } from '../../platform/random.ts';
import { runCommand } from './command-line.ts';
import { type BackupResult, createBackup } from './create-backup.ts';
import { MASTER_KEY_FILE } from './manifest.ts';

const USAGE = 'Usage: npm run backup -- <folder> [--keep <number of backups>] [--without-key]';

interface BackupArguments {
  folder: string;
  keep: number | null;
  withoutKey: boolean;
}

function readArguments(args: string[]): BackupArguments {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { keep: { type: 'string' }, 'without-key': { type: 'boolean', default: false } },
  });
  const [folder, ...extra] = positionals;
  if (folder === undefined || extra.length > 0) throw new Error('Give one folder.');
  if (values.keep !== undefined && !/^[1-9]\d{0,5}$/.test(values.keep))
    throw new Error(`--keep is "${values.keep}": not a whole number from 1 on. Give one, for example 7.`);
  return {
    folder: resolve(folder),
    keep: values.keep === undefined ? null : Number(values.keep),
    withoutKey: values['without-key'],
  };
}

function report({ folder, manifest, copied, removedBackups: removed }: BackupResult): string {
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  const presentBlobs = manifest.blobs.count - copied.count;
  const hasKey = manifest.files.some(({ name }) => name === MASTER_KEY_FILE);
  return [
    `The backup is ${folder}`,
    `It has everything of ${manifest.taken_at}: ${rows} rows of ${manifest.tables.length} tables, and ${manifest.blobs.count} blobs; ${copied.count} of them were copied (${formatBytes(copied.bytes)}), ${presentBlobs} were there.`,
    ...(removed > 0 ? [`Older backups removed: ${removed}.`] : []),
    hasKey
      ? 'It holds the master key: anyone who has the key can sign tokens and read secrets. Keep it safe.'
      : 'It does not hold the master key: a restore needs SWITCHYARD_KEY. Keep the key in another place.',
  ].join('\n');
}

await runCommand(USAGE, readArguments, async (options) => {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  return report(
    await createBackup(readStorageConfig(), options, { clock: systemClock, random: systemRandom }),
  );
});
