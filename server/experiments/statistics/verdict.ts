/**
 * The four words a comparison ends with, and why.
 *
 * - better, worse: at least 10 units (inputs, or units of a switchback plan), the 95 % interval of the difference excludes
 *   0, the test's p-value is at most 0.05, and both point the same way.
 * - equivalent: at least 10 units and the whole interval lies within the tolerance; or no unit differs at all, however few.
 * - undecided: anything else, with about how many more units would decide.
 *
 * Better and worse are looked for first: a difference that is certain but lies within the tolerance is told as better or
 * worse, with a sentence that says how small it is.
 */
import type { Interval } from './bootstrap.ts';

export type Verdict = 'better' | 'worse' | 'equivalent' | 'undecided';
export type Objective = 'minimize' | 'maximize';

const VERDICT_UNITS_MIN = 10;
const SIGNIFICANCE_LEVEL = 0.05;
/** Beyond it nobody would go on: then the number is not told. */
const MORE_MAX = 100_000;
/** Of fewer units the spread says nothing about the next ones. */
const UNITS_FOR_SPREAD = 3;

/** Two-sided 5 %, and the power with which the units asked for would decide: 0.8 to find, 0.8 for both edges to fit in. */
const Z_LEVEL = 1.959963984540054;
const Z_POWER = 0.8416212335729143;
const Z_BOTH = 1.2815515655446004;

/** What a verdict is made from. Differences are candidate minus control, all in one measure. */
export interface Evidence {
  /** What the independent things are called. */
  unit: 'input' | 'unit';
  usable: number;
  difference: number;
  interval: Interval | null;
  test: {
    name: string;
    p_value: number | null;
    /** What it would need for an answer, where it has none. */
    needs?: string;
    /** The sign of the difference the test sees. */
    direction: number;
  };
  /** No unit differs. */
  all_equal: boolean;
  /** Half the width of what counts as equivalent. */
  margin: number;
  /** The same as sentences name it, such as "1 % of the control’s mean". */
  margin_in_words: string;
  objective: Objective;
}

/** The verdict and the sentences that say what it rests on. */
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
    const reasons = [`The 95 % interval of the difference excludes 0 and ${testSays(test)}.`];
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
  const because = [
    excludes
      ? 'The 95 % interval of the difference excludes 0.'
      : 'The 95 % interval of the difference includes 0.',
    `${capital(testSays(test))}.`,
    `The interval reaches beyond ±${margin_in_words}, so it does not show that the sides are equivalent.`,
  ];
  if (excludes && significant)
    because.push(`The mean and the ranks point opposite ways: a few ${unit}s outweigh the many.`);
  return undecided(...because);
}

function undecided(...reasons: string[]): { verdict: Verdict; reasons: string[] } {
  return { verdict: 'undecided', reasons };
}

function testSays({ name, p_value, needs }: Evidence['test']): string {
  if (p_value === null) return needs === undefined ? `${name} has no answer` : `${name} needs ${needs}`;
  return `${name} gives p = ${Number(p_value.toPrecision(2))}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** "1 input", "12 inputs". */
export function formatCount(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}

/** What was seen so far, for `estimateMoreUnits`. All in one measure. */
export interface ObservedEffect {
  usable: number;
  difference: number;
  /** How far the estimate of the difference is off with one unit; with n units it is this over the root of n. */
  spread: number;
  margin: number;
  /** The test's normal score with the units seen, with the sign of the difference it sees; null: follow the mean. */
  score: number | null;
  /** Units that the test needs at least, for as many as it can use of those seen. */
  least: number;
}

/**
 * About how many more units would decide: as many as would make the interval exclude 0 and the test significant, or make
 * the interval fit into the tolerance, whichever are fewer, if the next units are like those seen, with a power of 0.8. Null when
 * it cannot be told: fewer than three units, or more than a hundred thousand.
 */
export function estimateMoreUnits(seen: ObservedEffect): number | null {
  if (seen.usable < UNITS_FOR_SPREAD) return null;
  const needed = Math.min(unitsToFind(seen), unitsToFit(seen));
  const more = Math.max(1, Math.ceil(needed) - seen.usable);
  return more <= MORE_MAX ? more : null;
}

/** Student's t needs about two units more than the normal distribution. */
const FOR_STUDENT = 2;

function unitsToFind({ usable, difference, spread, score, least }: ObservedEffect): number {
  if (difference === 0 || (score !== null && score * difference <= 0)) return Number.POSITIVE_INFINITY;
  const power = Z_LEVEL + Z_POWER;
  const byMean = (power * (spread / Math.abs(difference))) ** 2 + FOR_STUDENT;
  const byTest = score === null ? 0 : usable * (power / score) ** 2;
  return Math.max(VERDICT_UNITS_MIN, least, byMean, byTest);
}

function unitsToFit({ difference, spread, margin }: ObservedEffect): number {
  const room = margin - Math.abs(difference);
  if (room <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(VERDICT_UNITS_MIN, ((Z_LEVEL + Z_BOTH) * (spread / room)) ** 2 + FOR_STUDENT);
}
