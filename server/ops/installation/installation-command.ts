/**
 * `npm run installation`: prints the installation of the database, the data folder and the blob store. It also prints
 * whether a server would start on them. `npm run installation -- adopt` makes all three the installation of the database.
 */
import { parseArgs } from 'node:util';
import { FolderInUseError } from '@switchyard/worker/folder-lock.ts';
import { systemClock } from '../../platform/clock.ts';
import { ConfigError, readStorageConfig, type StorageConfig } from '../../platform/config.ts';
import { createLog, errorMessage } from '../../platform/log.ts';
import { systemRandom } from '../../platform/random.ts';
import { adoptInstallation } from './adopt.ts';
import { type InstallationState, readInstallationState } from './installation-state.ts';
import { findStartRefusal } from './start-refusal.ts';

const USAGE =
  'Usage: npm run installation [-- adopt: make data folder and blobs the installation of the database after a refused start]';
const NONE = '(none)';

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
