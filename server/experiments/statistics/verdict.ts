/**
 * The four verdicts of a comparison, and their reasons.
 *
 * - better, worse: at least 10 units (inputs, or units of a switchback plan). The 95 % interval of the difference excludes
 *   0, the test's p-value is at most 0.05, and both have the same sign.
 * - equivalent: at least 10 units and the whole interval lies within the tolerance; or no unit differs, however few.
 * - undecided: anything else, with an estimate of how many more units would decide.
 *
 * Better and worse take precedence: a certain difference within the tolerance is better or worse, and a reason says that
 * it is small.
 */
import type { Interval } from './bootstrap.ts';

/** The verdict on the candidate. */
export type Verdict = 'better' | 'worse' | 'equivalent' | 'undecided';
/** The direction in which an indicator improves. */
export type Objective = 'minimize' | 'maximize';

const VERDICT_UNITS_MIN = 10;
const SIGNIFICANCE_LEVEL = 0.05;
/** The largest estimate that a result reports, because nobody would continue for more. */
const MORE_UNITS_MAX = 100_000;
/** The spread of fewer units does not predict the next ones. */
const SPREAD_UNITS_MIN = 3;

/** Normal quantiles of the two-sided 5 % level, of a power of 0.8 to find a difference, and of 0.8 for both ends to fit. */
const Z_LEVEL = 1.959963984540054;
const Z_POWER = 0.8416212335729143;
const Z_BOTH = 1.2815515655446004;

/** The evidence for a verdict. Differences are candidate minus control, all in one measure. */
export interface Evidence {
  /** The name of the independent unit. */
  unit: 'input' | 'unit';
  usable: number;
  difference: number;
  interval: Interval | null;
  test: {
    name: string;
    p_value: number | null;
    /** The data that the test needs, when it has no p-value. */
    needs?: string;
    /** A number with the sign of the difference by the test. */
    direction: number;
  };
  /** True when no unit differs. */
  all_equal: boolean;
  /** The largest difference that counts as equivalent. */
  margin: number;
  /** The margin in the reasons, such as "1 % of the control’s mean". */
  margin_in_words: string;
  objective: Objective;
}

/** Returns the verdict and its reasons, each a sentence. */
export function decideVerdict(evidence: Evidence): { verdict: Verdict; reasons: string[] } {
  const { unit, usable, interval, test, margin, margin_in_words, objective } = evidence;
  if (usable === 0)
    return undecided(
      unit === 'input'
        ? 'No input has a usable value on both sides.'
        : 'A side has no unit with a usable value.',
    );
  if (evidence.all_equal)
    return { verdict: 'equivalent', reasons: [`${formatCount(usable, unit)} and no difference.`] };
  if (usable < VERDICT_UNITS_MIN)
    return undecided(
      `${formatCount(usable, unit)} with usable values; a verdict needs at least ${VERDICT_UNITS_MIN}.`,
    );
  if (interval === null) return undecided(`A side has too few ${unit}s with usable values for an interval.`);
  const excludes = interval.low > 0 || interval.high < 0;
  const significant = test.p_value !== null && test.p_value <= SIGNIFICANCE_LEVEL;
  const within = interval.low >= -margin && interval.high <= margin;
  const agree = Math.sign(test.direction) === Math.sign(evidence.difference);
  if (excludes && significant && agree) {
    const verdict = interval.high < 0 === (objective === 'minimize') ? 'better' : 'worse';
    const reasons = [`The 95 % interval of the difference excludes 0 and ${describeTest(test)}.`];
    if (within)
      reasons.push(
        `The difference is certain but small: the whole interval lies within ±${margin_in_words}.`,
      );
    return { verdict, reasons };
  }
  if (within)
    return {
      verdict: 'equivalent',
      reasons: [`The whole 95 % interval of the difference lies within ±${margin_in_words}.`],
    };
  const reasons = [
    excludes
      ? 'The 95 % interval of the difference excludes 0.'
      : 'The 95 % interval of the difference includes 0.',
    `${capitalise(describeTest(test))}.`,
    `The interval reaches beyond ±${margin_in_words}, so it does not show that the sides are equivalent.`,
  ];
  if (excludes && significant)
    reasons.push(`The mean and the ranks point opposite ways: a few ${unit}s outweigh the many.`);
  return undecided(...reasons);
}

function undecided(...reasons: string[]): { verdict: Verdict; reasons: string[] } {
  return { verdict: 'undecided', reasons };
}

function describeTest({ name, p_value, needs }: Evidence['test']): string {
  if (p_value === null) return needs === undefined ? `${name} has no answer` : `${name} needs ${needs}`;
  return `${name} gives p = ${Number(p_value.toPrecision(2))}`;
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns a count with its noun: "1 input", "12 inputs". */
export function formatCount(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}

/** The effect observed so far. All numbers are in one measure. */
export interface ObservedEffect {
  usable: number;
  difference: number;
  /** The standard error of the difference with one unit; with n units it is this over the square root of n. */
  spread: number;
  margin: number;
  /** The test's normal score for the observed units, with the sign of its difference; null to use the mean alone. */
  score: number | null;
  /** The least number of units that the test needs, at the observed share of units that it can use. */
  least: number;
}

/**
 * Returns about how many more units would decide, if they are like the observed ones, with a power of 0.8. With so many
 * units the interval excludes 0 and the test is significant, or the interval fits into the tolerance, whichever needs
 * fewer. Returns null below three observed units, and when the estimate exceeds a hundred thousand.
 */
export function estimateMoreUnits(observed: ObservedEffect): number | null {
  if (observed.usable < SPREAD_UNITS_MIN) return null;
  const needed = Math.min(countUnitsToFind(observed), countUnitsToFit(observed));
  const more = Math.max(1, Math.ceil(needed) - observed.usable);
  return more <= MORE_UNITS_MAX ? more : null;
}

/** Student's t needs about two units more than the normal distribution. */
const STUDENT_EXTRA_UNITS = 2;

function countUnitsToFind({ usable, difference, spread, score, least }: ObservedEffect): number {
  if (difference === 0 || (score !== null && score * difference <= 0)) return Number.POSITIVE_INFINITY;
  const power = Z_LEVEL + Z_POWER;
  const byMean = (power * (spread / Math.abs(difference))) ** 2 + STUDENT_EXTRA_UNITS;
  const byTest = score === null ? 0 : usable * (power / score) ** 2;
  return Math.max(VERDICT_UNITS_MIN, least, byMean, byTest);
}

function countUnitsToFit({ difference, spread, margin }: ObservedEffect): number {
  const slack = margin - Math.abs(difference);
  if (slack <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(VERDICT_UNITS_MIN, ((Z_LEVEL + Z_BOTH) * (spread / slack)) ** 2 + STUDENT_EXTRA_UNITS);
}
