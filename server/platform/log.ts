/**
 * The log: one line of JSON for each event, on standard error, separate from the text that the start prints for people.
 *
 * Invariant: no line contains a token, a secret or a signed URL; callers log URLs without their query.
 */
import type { WorkerLog } from '@switchyard/worker/environment.ts';
import { pino } from 'pino';

export { getErrorMessage as errorMessage } from '@switchyard/runner/process/errors.ts';

/** The log of the server has the form of a worker's. */
export type Log = WorkerLog;

/** Values of SWITCHYARD_LOG_LEVEL, from most to fewest events. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Creates a log on standard error for events of the level and above. */
export function createLog(level: LogLevel): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: false }),
  );
}
