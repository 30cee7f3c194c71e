/**
 * The log: one line of JSON for each event, on standard error, separate from the text that the start prints for people.
 *
 * Invariant: no line contains a token, a secret or a signed URL; callers log URLs without their query.
 */
import { pino } from 'pino';

/** Writes an event with its fields. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

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

/** Returns the message of an error, or any other thrown value as a string. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
