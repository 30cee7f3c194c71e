/** The data of the pictures about statistics: simulated experiments with a fixed seed, and formulas of the textbooks. */

/** The 97.5 % quantile of Student's distribution with 11 degrees of freedom, for twelve inputs. */
const T_QUANTILE = 2.201;
/** The 97.5 % quantile of the normal distribution. */
const NORMAL_QUANTILE = 1.96;
const INPUTS = 12;

/** Draws numbers of the standard normal distribution. The same seed gives the same numbers. */
export type Draw = () => number;

/** Returns a generator: mulberry32 (https://github.com/bryc/code) and the transformation of Box and Muller. */
export function createDraw(seed: number): Draw {
  let state = seed;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

export interface Pair {
  control: number;
  candidate: number;
}

/** Simulates inputs of very different sizes, on which the candidate is 5 % cheaper on average. */
export function simulatePairs(draw: Draw): Pair[] {
  return Array.from({ length: INPUTS }, () => {
    const control = 100 * Math.exp(0.5 * draw());
    return { control, candidate: control * (0.95 + 0.03 * draw()) };
  });
}

export interface Interval {
  value: number;
  low: number;
  high: number;
}

/** Simulates experiments with a change of −5 % and a spread of 6 % between inputs, and returns their 95 % intervals. */
export function simulateIntervals(draw: Draw, count: number): Interval[] {
  return Array.from({ length: count }, () => {
    const changes = Array.from({ length: INPUTS }, () => -5 + 6 * draw());
    const value = computeMean(changes);
    const half = T_QUANTILE * (computeDeviation(changes) / Math.sqrt(INPUTS));
    return { value, low: value - half, high: value + half };
  });
}

/** Returns the share of experiments that find a change of this many standard deviations, by the normal approximation. */
export function computePower(inputs: number, effect: number): number {
  return computeNormalShare(Math.sqrt(inputs) * effect - NORMAL_QUANTILE);
}

/** Returns the share of the standard normal distribution below a number (Abramowitz and Stegun, 26.2.17). */
export function computeNormalShare(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series;
  return z > 0 ? 1 - tail : tail;
}

/**
 * Simulates A/A tests that end with the first significant look, and returns the share of them with a verdict. Each look has as
 * many inputs again as the first.
 */
export function simulatePeeking(draw: Draw, looks: number, experiments = 4000): number {
  let verdicts = 0;
  for (let experiment = 0; experiment < experiments; experiment += 1) {
    let sum = 0;
    for (let look = 1; look <= looks; look += 1) {
      sum += draw();
      if (Math.abs(sum) / Math.sqrt(look) < NORMAL_QUANTILE) continue;
      verdicts += 1;
      break;
    }
  }
  return verdicts / experiments;
}

/** The inputs of an A/A test, which are versions of fewer instances. */
const VERSIONED_INPUTS = 20;

/**
 * Simulates A/A tests whose inputs are so many versions of each instance, and returns the share with a verdict if every
 * input counts. All versions of an instance have its change.
 */
export function simulateVersions(draw: Draw, versions: number, experiments = 4000): number {
  let verdicts = 0;
  for (let experiment = 0; experiment < experiments; experiment += 1) {
    let sum = 0;
    for (let instance = 0; instance < VERSIONED_INPUTS / versions; instance += 1) sum += versions * draw();
    if (Math.abs(sum) / Math.sqrt(VERSIONED_INPUTS) >= NORMAL_QUANTILE) verdicts += 1;
  }
  return verdicts / experiments;
}

/** Returns the effect that callers notice in each unit, if half of the effect of a unit reaches into the next. */
export function computeCarryOver(isCandidate: readonly boolean[], share = 0.5): number[] {
  let noticed = 0;
  return isCandidate.map((candidate) => {
    noticed = share * noticed + (1 - share) * (candidate ? 1 : 0);
    return noticed;
  });
}

function computeMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function computeDeviation(values: readonly number[]): number {
  const mean = computeMean(values);
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}

/**
 * Returns the share of releases with equal failure rates that a binomial test at 5 % rejects. It takes the share of failures
 * among the runs before as the known rate. As many runs are watched, and the test is made once at their end.
 */
export function computeEstimatedRateShare(rate: number, runs: number): number {
  const counts = Array.from({ length: runs + 1 }, (_, count) => count);
  const probabilities = (share: number) => counts.map((count) => computeBinomial(count, runs, share));
  const shares = probabilities(rate);
  return counts.reduce((sum, before) => {
    const known = probabilities(before / runs);
    const isRejected = (after: number) =>
      known.slice(after).reduce((tail, probability) => tail + probability, 0) <= 0.05;
    const rejected = counts.reduce(
      (share, after) => share + (isRejected(after) ? (shares[after] ?? 0) : 0),
      0,
    );
    return sum + (shares[before] ?? 0) * rejected;
  }, 0);
}

/** Returns the probability of so many successes. */
function computeBinomial(count: number, runs: number, share: number): number {
  let probability = (1 - share) ** (runs - count) * share ** count;
  for (let index = 0; index < count; index += 1) probability *= (runs - index) / (index + 1);
  return probability;
}
