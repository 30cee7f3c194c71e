/** Sentences of the watch after a promotion. */
import { formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import {
  FAILURES_MIN,
  findBurstsNeeded,
  findLongestStreak,
  type WatchAlarm,
  type WatchedOutcomes,
} from '@switchyard/contract/runs/failure-watch/failure-watch.ts';

/** Returns the sentences that say before the watch what it compares, and which failures move the instance back. */
export function describeWatch(
  { before, planned }: Omit<WatchedOutcomes, 'after'>,
  outageRuns: number,
): string {
  const compared = `The watch compares the next ${formatRuns(planned)} with ${formatRuns(before.length)} before, of which ${countFailed(before)} failed.`;
  const bursts = findBurstsNeeded({ before, planned });
  if (bursts === undefined)
    return `${compared} These are too few to know a failure rate: only ${outageRuns} failures in a row move the instance back.`;
  const needed = Math.max(FAILURES_MIN, bursts);
  return `${compared} The instance moves back after ${outageRuns} failures in a row, or if the failure rate rises, from ${needed} failures on.`;
}

/** Returns the reason to move the instance back as sentences. */
export function describeAlarm(alarm: WatchAlarm, { before, after }: WatchedOutcomes): string {
  if (alarm.kind === 'outage')
    return `${alarm.streak} of ${formatRuns(after.length)} failed in a row after the promotion; in ${formatRuns(before.length)} before, at most ${findLongestStreak(before)} did.`;
  const counted = `${countFailed(after)} of ${formatRuns(after.length)} failed after the promotion, and ${countFailed(before)} of ${before.length} before.`;
  const chance = `At equal rates, whatever they are, the test finds so great a rise in at most ${formatPercent(alarm.p_value)} of releases.`;
  return `${counted} ${describePart(alarm)} ${chance}`;
}

function describePart({ part, before, after }: Extract<WatchAlarm, { kind: 'rate' }>): string {
  const counts = `${after.failed} of ${formatRuns(after.runs)} after and ${before.failed} of ${before.runs} before`;
  return part === 'start'
    ? `Failures began, after two successes, in ${counts}.`
    : `Failures went on, in the two runs after a failure, in ${counts}.`;
}

const countFailed = (outcomes: readonly boolean[]): number => outcomes.filter((isFailed) => isFailed).length;
const formatRuns = (count: number): string => `${count} ${count === 1 ? 'run' : 'runs'}`;
