/** The programs that tests start as processes: their bundles in the folder `TEST_PROGRAMS`, or their sources. */
import { join } from 'node:path';

const REPOSITORY = join(import.meta.dirname, '..', '..', '..');
const PROGRAMS = {
  'server/testing/servers/server-without-site.ts': 'server.mjs',
  'server/ops/backup/backup-command.ts': 'backup.mjs',
  'server/ops/backup/restore-command.ts': 'restore.mjs',
  'server/ops/backup/verify-command.ts': 'verify.mjs',
  'worker/process.ts': 'worker.mjs',
  'cli/main.ts': 'switchyard.mjs',
};
type TestProgram = keyof typeof PROGRAMS;

/** Lists the sources of the programs, as paths from the repository. */
export function listTestPrograms(): TestProgram[] {
  return Object.keys(PROGRAMS) as TestProgram[];
}

/** Returns the path of the program in a folder of bundles; by default the one to start. */
export function locateTestProgram(source: TestProgram, folder = process.env.TEST_PROGRAMS): string {
  return folder === undefined ? join(REPOSITORY, source) : join(folder, PROGRAMS[source]);
}
