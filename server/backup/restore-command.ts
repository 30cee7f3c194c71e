/** `npm run restore -- <backup>`: into the empty data folder, database and bucket that the settings name. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../clock.ts';
import { readConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { systemRandom } from '../random.ts';
import { type CheckedBackup, checkBackup } from './check-backup.ts';
import { formatBytes, runCommand } from './command-line.ts';
import { restore } from './restore.ts';

const USAGE =
  'Usage: npm run restore -- <backup, or a folder of backups for its newest> [--check: restore nothing, only look whether it could be]';

interface Asked {
  path: string;
  check: boolean;
}

function readArguments(args: string[]): Asked {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { check: { type: 'boolean', default: false } },
  });
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0) throw new Error('Name one backup.');
  return { path: resolve(path), check: values.check };
}

function report(verb: string, { folder, manifest, blobBytes }: CheckedBackup): string {
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  return `${verb} ${folder}: everything of ${manifest.taken_at}, ${rows} rows of ${manifest.tables.length} tables and ${manifest.blobs.count} blobs (${formatBytes(blobBytes)}). All hashes and counts are right.`;
}

await runCommand(USAGE, readArguments, async ({ path, check }) => {
  const config = readConfig();
  if (check) return report('Checked', await checkBackup(path, config.masterKey, { hashBlobs: true }));
  const restored = await restore(config, path, {
    clock: systemClock,
    random: systemRandom,
    log: createLog(config.logLevel),
  });
  return `${report('Restored', restored)}\nStart the server on it with \`npm start\`. The server it was made of must not run any more.`;
});
