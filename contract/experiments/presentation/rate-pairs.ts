/** Rates pairs of runs by the margin. Pictures colour by the rating, and sentences count it, so that both agree. */
import { formatNumber } from '../../presentation/format-quantity.ts';
import { type Effect, formatSize } from './effects.ts';
import type { InputPair } from './pair-runs.ts';

/** `within`: no difference that matters. `failed`: only one side failed, on an indicator without a direction. */
export type PairRating = 'better' | 'worse' | 'lower' | 'higher' | 'within' | 'failed';

/** Direction and margin by which pairs are rated. */
export interface RatingRule {
  objective: 'minimize' | 'maximize' | 'none';
  effect: Pick<Effect, 'measure' | 'margin'>;
}

/** Returns the rating; null for a pair with neither a change nor a failure of one side. */
export function ratePair(
  { change, failed }: Pick<InputPair, 'change' | 'failed'>,
  { objective, effect: { margin } }: RatingRule,
): PairRating | null {
  if (change === null) {
    if (failed === null || objective === 'none') return failed && 'failed';
    return failed === 'candidate' ? 'worse' : 'better';
  }
  if (change >= (margin?.low ?? 0) && change <= (margin?.high ?? 0)) return 'within';
  if (objective === 'none') return change < 0 ? 'lower' : 'higher';
  return change < 0 === (objective === 'minimize') ? 'better' : 'worse';
}

/** The numbers of pairs: won is better or lower, and lost is worse or higher. */
export interface PairCounts {
  won: number;
  within: number;
  lost: number;
  failed: number;
  rated: number;
}

/** Counts the pairs by rating. */
export function countPairs(pairs: readonly InputPair[], rule: RatingRule): PairCounts {
  const ratings = pairs.map((pair) => ratePair(pair, rule)).filter((rating) => rating !== null);
  const count = (...some: PairRating[]) => ratings.filter((rating) => some.includes(rating)).length;
  return {
    ...{ won: count('better', 'lower'), within: count('within'), lost: count('worse', 'higher') },
    ...{ failed: count('failed'), rated: ratings.length },
  };
}

/** The numbers of units by any difference, as the tests count them, and those of which both sides failed. */
export interface PairTally {
  total: number;
  usable: number;
  wins: number;
  ties: number;
  losses: number;
  failed: number;
}

interface DescribedPairs extends RatingRule {
  listPairs?(): readonly InputPair[];
  tally?: PairTally;
}

/**
 * Returns the counts, and what they leave out, such as `Better on 7 of 12 inputs, within ±1 % on 3, worse on 2. 1 of 13 inputs
 * is left out: neither side has a number on 1.` Returns null without pairs.
 */
export function describePairs(view: DescribedPairs, unit: string): string | null {
  const { objective, effect, tally, listPairs } = view;
  const { won, within, lost, failed, rated } = countPairs(listPairs?.() ?? [], view);
  if (rated === 0) return null;
  const { usable, total } = tally ?? { usable: rated, total: rated };
  const [better, worse] = objective === 'none' ? ['Lower', 'higher'] : ['Better', 'worse'];
  const margin = effect.margin?.high ?? 0;
  const alike = margin === 0 ? 'equal' : `within ±${formatSize(effect.measure, margin)}`;
  const sides = failed === 0 ? '' : `, failed on one side on ${formatNumber(failed)}`;
  return [
    `${better} on ${formatNumber(won)} of ${rated < usable ? 'the newest ' : ''}${formatNumber(rated)} ${unit}s, ${alike} on ${formatNumber(within)}, ${worse} on ${formatNumber(lost)}${sides}.`,
    ...(rated < usable ? [`The experiment compares ${formatNumber(usable)}.`] : []),
    ...(tally && usable < total ? [describeLeftOut(tally, unit)] : []),
  ].join(' ');
}

function describeLeftOut({ total, usable, failed }: PairTally, unit: string): string {
  const left = total - usable;
  const both = Math.min(failed, left);
  const reasons = [
    both > 0 && `neither side has a number on ${formatNumber(both)}`,
    both < left && `${formatNumber(left - both)} did not end on both sides`,
  ].filter((reason) => reason !== false);
  return `${formatNumber(left)} of ${formatNumber(total)} ${unit}s ${left === 1 ? 'is' : 'are'} left out: ${reasons.join(', ')}.`;
}
