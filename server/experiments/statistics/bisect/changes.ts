/** The change between two tested versions, from their rounds against the good one. */
import type { Interval } from '../bootstrap.ts';
import { computeStudentTQuantile } from '../distributions.ts';
import { mean, standardDeviation } from '../numbers.ts';
import type { SearchResult, SearchStep } from './search.ts';

/** A change on the scale of the effects, positive for worse, with its interval. */
export interface VersionChange {
  effect: number;
  interval: Interval;
}

/** The changes around the version that the search has found. */
export interface FoundChanges {
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
