/**
 * Decides while runs end if a version fails more often than the one before. Both rates are unknown, so both sides are random.
 * Fisher's exact test (Statistical Methods for Research Workers, 1934) compares them at planned numbers of runs. The 5 % are
 * divided among these (Bonferroni). Nothing depends on the rate before or on when somebody reads the result.
 *
 * Failures come in bursts, such as an hour without a licence server, and a burst says as much as one failure. So one test
 * compares the starts of bursts: failures after at least two successes, among the runs after two successes. A second test
 * compares the other runs, those inside a burst. In a Markov chain both are independent trials.
 */

/** The probability of moving back a version that fails as often as the one before. */
const FALSE_ALARM_MAX = 0.05;
/** Runs of the version before with which the watch compares. */
export const RUNS_BEFORE_MAX = 500;
/** Fewer failures than these never move an instance back, unless the caller sets a shorter outage. */
export const FAILURES_MIN = 3;

const SUCCESSES_BETWEEN_BURSTS = 2;
const OUTAGE_RUNS_MIN = 12;
const OUTAGE_SHARE = 0.3;
/** An outage that has nothing to do with the release is taken to be shorter than so many times those before. */
const OUTAGE_FACTOR = 4;

/** The two tests with their parts of the 5 %. Bursts before are rare, so that the second test seldom decides. */
const TESTS = { start: 0.8, inside: 0.2 };
type BurstPart = keyof typeof TESTS;

/** Runs in the order of their creation: true for a failed run. A run that has not ended counts as not failed. */
type Outcomes = readonly boolean[];

/** The outcomes that a watch compares. */
export interface WatchedOutcomes {
  before: Outcomes;
  after: Outcomes;
  /** Runs after which the watch ends. */
  planned: number;
}

/** Counts of runs, and of those that failed. */
interface FailureCount {
  runs: number;
  failed: number;
}

/** A reason to move the instance back: failures in a row, or a failure rate that is too high. */
export type WatchAlarm =
  | { kind: 'outage'; streak: number }
  | { kind: 'rate'; part: BurstPart; before: FailureCount; after: FailureCount; p_value: number };
type RateAlarm = Extract<WatchAlarm, { kind: 'rate' }>;

/** Returns the number of failures in a row after which an instance is moved back, unless the caller sets one. */
export function computeOutageRuns({ before, planned }: Omit<WatchedOutcomes, 'after'>): number {
  return Math.max(
    OUTAGE_RUNS_MIN,
    Math.ceil(OUTAGE_SHARE * planned),
    OUTAGE_FACTOR * findLongestStreak(before),
  );
}

/** Returns the largest number of failures in a row. */
export function findLongestStreak(outcomes: Outcomes): number {
  let longest = 0;
  let streak = 0;
  for (const isFailed of outcomes) {
    streak = isFailed ? streak + 1 : 0;
    longest = Math.max(longest, streak);
  }
  return longest;
}

/**
 * Returns the first reason to move the instance back, or undefined. Its p-value is that of the test, times the number of looks
 * of both tests. At equal rates a reason of the kind `rate` occurs with a probability of at most 5 %.
 */
export function findWatchAlarm(watched: WatchedOutcomes, outageRuns: number): WatchAlarm | undefined {
  const { planned } = watched;
  const before = countParts(watched.before);
  const counter = new BurstCounter(measureSuccesses(watched.before));
  let least: RateAlarm | undefined;
  for (const [index, isFailed] of watched.after.slice(0, planned).entries()) {
    const part = counter.add(isFailed);
    if (counter.streak >= outageRuns) return { kind: 'outage', streak: counter.streak };
    const isLast = index === planned - 1;
    const parts = isLast ? (['start', 'inside'] as const) : [part];
    for (const one of parts) {
      const after = { ...counter.counts[one] };
      if (!isLast && !isLook(after.runs)) continue;
      const p_value = computeLookPValue(before[one], after, { part: one, planned });
      if (least === undefined || p_value < least.p_value)
        least = { kind: 'rate', part: one, before: before[one], after, p_value };
    }
    const failed = counter.counts.start.failed + counter.counts.inside.failed;
    if (failed >= FAILURES_MIN && least && least.p_value <= FALSE_ALARM_MAX) return least;
  }
  return undefined;
}

/**
 * Returns the fewest bursts that can move an instance back by their rate, if they come at once. Returns undefined if the runs
 * before are too few for any number.
 */
export function findBurstsNeeded({ before, planned }: Omit<WatchedOutcomes, 'after'>): number | undefined {
  const known = countParts(before).start;
  for (let bursts = 1; bursts <= planned; bursts += 1) {
    const look = bursts < planned ? 2 ** Math.ceil(Math.log2(bursts)) : planned;
    const after = { runs: Math.min(look, planned), failed: bursts };
    if (computeLookPValue(known, after, { part: 'start', planned }) <= FALSE_ALARM_MAX) return bursts;
  }
  return undefined;
}

/** The test looks at powers of two, and at the end of the watch. */
const isLook = (runs: number): boolean => runs > 0 && Number.isInteger(Math.log2(runs));

interface PlannedLook {
  part: BurstPart;
  planned: number;
}

function computeLookPValue(
  before: FailureCount,
  after: FailureCount,
  { part, planned }: PlannedLook,
): number {
  const looks = Math.ceil(Math.log2(planned)) + 1;
  return Math.min(1, (computeUpperTail(before, after) * looks) / TESTS[part]);
}

/** Counts the failures at the start of bursts, and inside them. */
class BurstCounter {
  readonly counts: Record<BurstPart, FailureCount> = {
    start: { runs: 0, failed: 0 },
    inside: { runs: 0, failed: 0 },
  };
  /** Failures in a row up to the last run. */
  streak = 0;
  #successes: number;

  constructor(successes: number) {
    this.#successes = successes;
  }

  /** Counts the run, and returns the part to which it belongs. */
  add(isFailed: boolean): BurstPart {
    const part = this.#successes >= SUCCESSES_BETWEEN_BURSTS ? 'start' : 'inside';
    const count = this.counts[part];
    count.runs += 1;
    if (isFailed) count.failed += 1;
    this.#successes = isFailed ? 0 : this.#successes + 1;
    this.streak = isFailed ? this.streak + 1 : 0;
    return part;
  }
}

function countParts(outcomes: Outcomes): Record<BurstPart, FailureCount> {
  const counter = new BurstCounter(SUCCESSES_BETWEEN_BURSTS);
  for (const isFailed of outcomes) counter.add(isFailed);
  return counter.counts;
}

/** Returns the number of successes since the last failure, and enough of them without a failure. */
function measureSuccesses(outcomes: Outcomes): number {
  const last = outcomes.lastIndexOf(true);
  return last === -1 ? SUCCESSES_BETWEEN_BURSTS : outcomes.length - 1 - last;
}

/**
 * Returns the probability of at least as many failures after, given those of both sides together. It is the upper tail of
 * the hypergeometric distribution, and the p-value of Fisher's one-sided test.
 */
export function computeUpperTail(before: FailureCount, after: FailureCount): number {
  const failed = before.failed + after.failed;
  const runs = before.runs + after.runs;
  let tail = 0;
  for (let count = after.failed; count <= Math.min(failed, after.runs); count += 1) {
    if (failed - count > before.runs) continue;
    tail += Math.exp(
      logChoose(after.runs, count) + logChoose(before.runs, failed - count) - logChoose(runs, failed),
    );
  }
  return Math.min(1, tail);
}

function logChoose(all: number, chosen: number): number {
  return logFactorial(all) - logFactorial(chosen) - logFactorial(all - chosen);
}

const LOG_FACTORIALS = [0];

function logFactorial(count: number): number {
  for (let next = LOG_FACTORIALS.length; next <= count; next += 1)
    LOG_FACTORIALS.push((LOG_FACTORIALS[next - 1] ?? 0) + Math.log(next));
  return LOG_FACTORIALS[count] ?? 0;
}
