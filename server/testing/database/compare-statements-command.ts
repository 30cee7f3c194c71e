/** Prints the statements that only SQLite executed, and fails when there are some. `npm test` runs it after the tests. */
import { listUnprovenStatements } from './compare-statements.ts';

const unproven = listUnprovenStatements(process.argv[2] ?? '');
if (unproven.length > 0)
  console.log(
    `The tests executed these statements on SQLite only. Run a test of each on PostgreSQL too: take its file out of SAME_ON_BOTH in vitest.config.ts.\n\n${unproven.join('\n')}`,
  );
process.exitCode = unproven.length > 0 ? 1 : 0;
