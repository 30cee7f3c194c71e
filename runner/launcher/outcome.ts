/** Determines the outcome of a run: one reason and one sentence. */
import { constants } from 'node:os';
import { MIN_FREE_DISK_BYTES } from '../filesystem/disk-space.ts';
import { mentionsHostFault } from '../process/host-faults.ts';
import type { EndedRun } from '../types.ts';
import type { EndReport } from './protocol.ts';

/** The part of an outcome that follows from how the app ended. */
export type RunOutcome = Pick<
  EndedRun,
  'succeeded' | 'reason' | 'error' | 'exitCode' | 'signal' | 'hostFault'
>;

/** A shell reports the end of its child by signal n as exit status 128 + n, and in a pid namespace a shell reports. */
const SIGNAL_STATUS_BASE = 128;

/**
 * Returns the outcome for a report of the launcher.
 *
 * @param setupError output of the process chain when the app's own process never ran.
 */
export function determineOutcome(report: EndReport, setupError: string): RunOutcome {
  const signal = report.signal ?? findSignalName(report.exitCode);
  const exitCode = signal === null ? report.exitCode : null;
  const failed = { succeeded: false, exitCode, signal };
  if (report.reason !== undefined) {
    const fault = report.hostFault ? { hostFault: true as const } : {};
    return { ...failed, reason: report.reason, error: report.error ?? '', ...fault };
  }
  if (!report.appRan) {
    const cause = setupError === '' ? describeEnd(exitCode, signal) : setupError;
    const fault = mentionsHostFault(cause) ? { hostFault: true as const } : {};
    return {
      ...failed,
      reason: 'host',
      error: `The app's containment could not be set up: ${cause}`,
      ...fault,
    };
  }
  if (signal !== null) {
    const status = report.signal === null ? ` (exit status ${report.exitCode})` : '';
    return { ...failed, reason: 'signal', error: `The app was ended by signal ${signal}${status}.` };
  }
  if (exitCode === 0) return { succeeded: true, exitCode, signal, reason: 'exit', error: '' };
  return { ...failed, reason: 'exit', error: `The app ended with exit code ${exitCode}.` };
}

/**
 * Attributes the failure of an app to the host when the disk is full, because a failed write may be the cause. A success
 * stays a success. It is no host fault when the disk would have space without the app's own files (`writtenBytes`).
 */
export function attributeToFullDisk(
  outcome: RunOutcome,
  hasSpace: boolean,
  writtenBytes: number,
): RunOutcome {
  const endedByItself = outcome.reason === 'exit' || outcome.reason === 'signal';
  if (outcome.succeeded || hasSpace || !endedByItself) return outcome;
  const error = `The disk of the host is full: ${outcome.error}`;
  const fault = writtenBytes < MIN_FREE_DISK_BYTES ? { hostFault: true as const } : {};
  return { ...outcome, reason: 'host', error, ...fault };
}

function describeEnd(exitCode: number | null, signal: string | null): string {
  return signal === null ? `it ended with exit code ${exitCode}.` : `it was ended by signal ${signal}.`;
}

function findSignalName(exitCode: number | null): string | null {
  if (exitCode === null || exitCode <= SIGNAL_STATUS_BASE) return null;
  const found = Object.entries(constants.signals).find(
    ([, number]) => number === exitCode - SIGNAL_STATUS_BASE,
  );
  return found?.[0] ?? null;
}
