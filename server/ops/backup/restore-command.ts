/** `npm run restore -- <backup>`: restores into the empty data folder, database and bucket that the settings name. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import { systemClock } from '../../platform/clock.ts';
import { readStorageConfig } from '../../platform/config.ts';
import { createLog } from '../../platform/log.ts';
import { systemRandom } from '../../platform/random.ts';
import type { CheckedBackup } from './check-backup.ts';
import { runCommand } from './command-line.ts';
import { checkAndRecord } from './record-backup.ts';
import { restore } from './restore.ts';

const USAGE =
  'Usage: npm run restore -- <backup, or a folder of backups for its newest> [--check: check the backup and restore nothing]';

interface RestoreArguments {
  path: string;
  check: boolean;
}

function readArguments(args: string[]): RestoreArguments {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { check: { type: 'boolean', default: false } },
  });
  const [path, ...extra] = positionals;
  if (path === undefined || extra.length > 0) throw new Error('Give one backup.');
  return { path: resolve(path), check: values.check };
}

function report(verb: string, { folder, manifest, blobBytes }: CheckedBackup): string {
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  return `${verb} ${folder}: everything of ${manifest.taken_at}, ${rows} rows of ${manifest.tables.length} tables and ${manifest.blobs.count} blobs (${formatBytes(blobBytes)}). All hashes and counts are right.`;
}

await runCommand(USAGE, readArguments, async ({ path, check }) => {
  const config = readStorageConfig();
  if (check) return report('Checked', await checkAndRecord(config, path, { clock: systemClock }));
  const restored = await restore(config, path, {
    clock: systemClock,
    random: systemRandom,
    log: createLog('warn'),
  });
  return `${report('Restored', restored)}\nStart the server on it with \`npm start\`. Do not run the server of the backup at the same time.`;
});
