/** Prints the storage of the account. */

import type { Command } from '@commander-js/extra-typings';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Session } from '../../session/session.ts';

/** Defines `storage`. */
export function defineStorage(program: Command, session: Session): void {
  program
    .command('storage')
    .description('Print the storage of each application. The server measures at most once in 5 minutes.')
    .addHelpText('after', '\nExample:\n  switchyard storage')
    .action(() => printStorage(session));
}

async function printStorage(session: Session): Promise<void> {
  const { body } = await session.connect().call('getStorage');
  session.output.printTable(
    body.items,
    [
      { title: 'APPLICATION', value: ({ application_id }) => application_id },
      { title: 'RUNS', value: ({ runs }) => runs, isNumeric: true },
      { title: 'OF RUNS', value: ({ run_bytes }) => formatBytes(run_bytes), isNumeric: true },
      { title: 'INPUTS', value: ({ input_bytes }) => formatBytes(input_bytes), isNumeric: true },
      {
        title: 'EXECUTABLES',
        value: ({ executable_bytes }) => formatBytes(executable_bytes),
        isNumeric: true,
      },
      {
        title: 'RUNS STAY',
        value: ({ keep_days }) => (keep_days === null ? 'for ever' : `${keep_days} days`),
      },
    ],
    {
      json: body,
      empty: 'The account has no applications.',
      id: ({ application_id }) => application_id,
    },
  );
}
