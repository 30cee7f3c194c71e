/** Prints the storage of the account. */
import type { Command } from '@commander-js/extra-typings';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Session } from '../../session/session.ts';
import { count } from '../../terminal/columns.ts';
import { defineList } from '../resource/define-resource.ts';

/** Defines `storage`. */
export function defineStorage(program: Command, session: Session): void {
  defineList(program, session, {
    name: 'storage',
    operation: 'getStorage',
    text: 'Print the storage of each application. The server measures at most once in 5 minutes.',
    id: 'application_id',
    columns: {
      APPLICATION: 'application_id',
      RUNS: count('runs'),
      'OF RUNS': { value: ({ run_bytes }) => formatBytes(run_bytes), isNumeric: true },
      INPUTS: { value: ({ input_bytes }) => formatBytes(input_bytes), isNumeric: true },
      EXECUTABLES: { value: ({ executable_bytes }) => formatBytes(executable_bytes), isNumeric: true },
      'RUNS STAY': ({ keep_days }) => (keep_days === null ? 'for ever' : `${keep_days} days`),
    },
    empty: 'The account has no applications.',
  });
}
