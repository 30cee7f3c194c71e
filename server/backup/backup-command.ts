/**
 * `npm run backup -- <folder>`: a backup of the server that the settings describe, while it runs. It goes behind everything
 * else that wants the processor.
 */
import { constants, setPriority } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../clock.ts';
import { readConfig } from '../config.ts';
import { systemRandom } from '../random.ts';
import { formatBytes, runCommand } from './command-line.ts';
import { type BackupResult, createBackup } from './create-backup.ts';
import { MASTER_KEY_FILE } from './manifest.ts';

const USAGE = 'Usage: npm run backup -- <folder> [--keep <how many backups stay>] [--without-key]';

interface Asked {
  folder: string;
  keep: number | null;
  withoutKey: boolean;
}

function readArguments(args: string[]): Asked {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { keep: { type: 'string' }, 'without-key': { type: 'boolean', default: false } },
  });
  const [folder, ...more] = positionals;
  if (folder === undefined || more.length > 0) throw new Error('Name one folder.');
  if (values.keep !== undefined && !/^[1-9]\d{0,5}$/.test(values.keep))
    throw new Error(`--keep is "${values.keep}"; it must be a whole number from 1 on.`);
  return {
    folder: resolve(folder),
    keep: values.keep === undefined ? null : Number(values.keep),
    withoutKey: values['without-key'],
  };
}

function report({ folder, manifest, copied, removedBackups: removed }: BackupResult): string {
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  const there = manifest.blobs.count - copied.count;
  const hasKey = manifest.files.some(({ name }) => name === MASTER_KEY_FILE);
  return [
    `The backup is ${folder}`,
    `It has everything of ${manifest.taken_at}: ${rows} rows of ${manifest.tables.length} tables, and ${manifest.blobs.count} blobs; ${copied.count} of them were copied (${formatBytes(copied.bytes)}), ${there} were there.`,
    ...(removed > 0 ? [`Older backups removed: ${removed}.`] : []),
    hasKey
      ? 'It holds the master key: whoever has it can sign tokens and read secrets. Keep it safe.'
      : 'It does not hold the master key: without SWITCHYARD_KEY, kept elsewhere, it cannot be restored.',
  ].join('\n');
}

await runCommand(USAGE, readArguments, async (asked) => {
  setPriority(constants.priority.PRIORITY_LOW);
  return report(await createBackup(readConfig(), asked, { clock: systemClock, random: systemRandom }));
});
