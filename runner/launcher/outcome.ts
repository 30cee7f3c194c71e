/** Says how a run ended, in one reason and one true sentence. */
import { constants } from 'node:os';
import { MIN_FREE_DISK_BYTES } from '../filesystem/disk-space.ts';
import { mentionsHostFault } from '../process/host-faults.ts';
import type { EndedRun } from '../types.ts';
import type { EndReport } from './protocol.ts';

export type RunOutcome = Pick<
  EndedRun,
  'succeeded' | 'reason' | 'error' | 'exitCode' | 'signal' | 'hostFault'
>;

/** Shells report the end by signal n as exit status 128 + n, and in a pid namespace a shell is what reports. */
const SIGNAL_BASE = 128;

/** @param setupTrouble what the chain of processes said when the app's own process never came to be. */
export function determineOutcome(report: EndReport, setupTrouble: string): RunOutcome {
  const signal = report.signal ?? signalNamed(report.exitCode);
  const exitCode = signal === null ? report.exitCode : null;
  const failed = { succeeded: false, exitCode, signal };
  if (report.reason !== undefined) {
    const fault = report.hostFault ? { hostFault: true as const } : {};
    return { ...failed, reason: report.reason, error: report.error ?? '', ...fault };
  }
  if (!report.appRan) {
    const how = setupTrouble === '' ? ending(exitCode, signal) : setupTrouble;
    const fault = mentionsHostFault(how) ? { hostFault: true as const } : {};
    return {
      ...failed,
      reason: 'host',
      error: `The app's containment could not be set up: ${how}`,
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
 * An app that fails by itself while the disk is full is not taken at its word: what it could not write may be why. One that
 * wrote all it had to has succeeded all the same. It is no fault of the host when the disk has room without the app's files.
 */
export function attributeToFullDisk(verdict: RunOutcome, hasRoom: boolean, writtenBytes: number): RunOutcome {
  const byItself = verdict.reason === 'exit' || verdict.reason === 'signal';
  if (verdict.succeeded || hasRoom || !byItself) return verdict;
  const error = `The disk of the host is full: ${verdict.error}`;
  const fault = writtenBytes < MIN_FREE_DISK_BYTES ? { hostFault: true as const } : {};
  return { ...verdict, reason: 'host', error, ...fault };
}

function ending(exitCode: number | null, signal: string | null): string {
  return signal === null ? `it ended with exit code ${exitCode}.` : `it was ended by signal ${signal}.`;
}

function signalNamed(exitCode: number | null): string | null {
  if (exitCode === null || exitCode <= SIGNAL_BASE) return null;
  const found = Object.entries(constants.signals).find(([, number]) => number === exitCode - SIGNAL_BASE);
  return found?.[0] ?? null;
}
