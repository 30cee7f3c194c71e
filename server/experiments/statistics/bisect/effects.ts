/** The effect of a round on all inputs: positive where the tested version is worse than the good one. */

import type { Interval } from '../bootstrap.ts';
import { computeStudentTQuantile } from '../distributions.ts';
import { mean, standardDeviation } from '../numbers.ts';
import type { OutcomePair } from '../paired/units.ts';
import type { RoundOutcome, SearchResult, SearchStep } from './search.ts';

export interface RoundScale {
  measure: 'relative' | 'absolute';
  direction: 'minimize' | 'maximize';
}

/** A relative difference of values that are not all above 0. */
export class NotPositiveError extends Error {}

/**
 * Returns the outcome of a round; the control of each pair is the good version. A round in which the tested version fails on
 * more inputs than the good one is lost. Otherwise the effect is the mean over the inputs that both solved.
 * Throws NotPositiveError for a relative effect of a value of 0 or below.
 */
export function computeRoundEffect(pairs: readonly OutcomePair[], scale: RoundScale): RoundOutcome {
  if (pairs.some(({ control, candidate }) => control === 'pending' || candidate === 'pending'))
    return { state: 'pending' };
  const ended = pairs.filter(({ control, candidate }) => control !== 'canceled' && candidate !== 'canceled');
  const lost = ended.filter(
    ({ control, candidate }) => candidate === 'failed' && control !== 'failed',
  ).length;
  const won = ended.filter(({ control, candidate }) => control === 'failed' && candidate !== 'failed').length;
  if (lost !== won) return { state: 'ended', effect: lost > won ? Infinity : -Infinity };
  const effects = ended.flatMap(({ control, candidate }) =>
    typeof control === 'number' && typeof candidate === 'number'
      ? [computeEffect(control, candidate, scale)]
      : [],
  );
  if (effects.length === 0) return { state: 'ended', effect: null };
  return { state: 'ended', effect: effects.reduce((total, effect) => total + effect / effects.length, 0) };
}

function computeEffect(control: number, candidate: number, { measure, direction }: RoundScale): number {
  if (measure === 'relative' && (control <= 0 || candidate <= 0))
    throw new NotPositiveError(
      `A run reported ${Math.min(control, candidate)}; a relative difference needs values above 0. Give an absolute one.`,
    );
  const effect = measure === 'relative' ? Math.log(candidate) - Math.log(control) : candidate - control;
  return direction === 'minimize' ? effect : -effect;
}

/** A change on the scale of the effects, positive for worse, with its interval. */
export interface VersionChange {
  effect: number;
  interval: Interval;
}

/** The changes around the version that the search has found. */
interface FoundChanges {
  /** The first bad version against the last good one. */
  change: VersionChange | null;
  /** The bad version against the first bad one, where it is worse again by at least half of the difference. */
  later: VersionChange | null;
}

const PROBABILITY = 0.975;

/** Returns the changes of a search that has a first bad version; null for those that fewer than two rounds show. */
export function findChanges(
  { steps, lastGood, firstBad }: Pick<SearchResult, 'steps' | 'lastGood' | 'firstBad'>,
  difference: number,
): FoundChanges {
  const found = steps.find(({ version }) => version === firstBad);
  const [bad] = steps;
  if (found === undefined || bad === undefined) return { change: null, later: null };
  const before = steps.find(({ version }) => version === lastGood);
  const later = found === bad ? null : estimateChange(bad, found);
  const isAgain = later !== null && later.effect >= difference / 2 && later.interval.low > 0;
  return { change: estimateChange(found, before ?? null), later: isAgain ? later : null };
}

/**
 * Returns the mean effect of a version minus that of an earlier one, by default the good one, with Welch's interval of 95 %.
 * Null below two rounds of either. The rounds end when they decide, so the interval holds roughly.
 */
export function estimateChange(
  { effects }: Pick<SearchStep, 'effects'>,
  earlier: Pick<SearchStep, 'effects'> | null,
): VersionChange | null {
  const parts = [effects, ...(earlier === null ? [] : [earlier.effects])];
  if (parts.some(({ length }) => length < 2)) return null;
  const variances = parts.map((values) => standardDeviation(Float64Array.from(values)) ** 2 / values.length);
  const variance = variances.reduce((total, one) => total + one, 0);
  const spent = variances.reduce(
    (total, one, index) => total + one ** 2 / ((parts[index]?.length ?? 2) - 1),
    0,
  );
  const effect = mean(effects) - (earlier === null ? 0 : mean(earlier.effects));
  const half =
    variance === 0 ? 0 : computeStudentTQuantile(PROBABILITY, variance ** 2 / spent) * Math.sqrt(variance);
  return { effect, interval: { low: effect - half, high: effect + half } };
}
