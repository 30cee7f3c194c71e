/** Says how a run ended, in one reason and one true sentence. */
import { constants } from 'node:os';
import type { EndReport } from './protocol.ts';
import type { Ended } from './types.ts';

export type Verdict = Pick<Ended, 'succeeded' | 'reason' | 'error' | 'exitCode' | 'signal'>;

/** Shells report the end by signal n as exit status 128 + n, and in a pid namespace a shell is what reports. */
const SIGNAL_BASE = 128;

/** @param setupTrouble what the chain of processes said when the app's own process never came to be. */
export function verdictOf(report: EndReport, setupTrouble: string): Verdict {
  const signal = report.signal ?? signalNamed(report.exitCode);
  const exitCode = signal === null ? report.exitCode : null;
  const failed = { succeeded: false, exitCode, signal };
  if (report.reason !== undefined) return { ...failed, reason: report.reason, error: report.error ?? '' };
  if (!report.appRan) {
    const how = setupTrouble === '' ? ending(exitCode, signal) : setupTrouble;
    return { ...failed, reason: 'host', error: `The app's containment could not be set up: ${how}` };
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
 * wrote all it had to has succeeded all the same.
 */
export function orFullDisk(verdict: Verdict, hasRoom: boolean): Verdict {
  const byItself = verdict.reason === 'exit' || verdict.reason === 'signal';
  if (verdict.succeeded || hasRoom || !byItself) return verdict;
  return { ...verdict, reason: 'host', error: `The disk of the host is full: ${verdict.error}` };
}

function ending(exitCode: number | null, signal: string | null): string {
  return signal === null ? `it ended with exit code ${exitCode}.` : `it was ended by signal ${signal}.`;
}

function signalNamed(exitCode: number | null): string | null {
  if (exitCode === null || exitCode <= SIGNAL_BASE) return null;
  const found = Object.entries(constants.signals).find(([, number]) => number === exitCode - SIGNAL_BASE);
  return found?.[0] ?? null;
}
