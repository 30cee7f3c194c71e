/** Rates pairs of runs by the margin. Pictures colour by the rating, and sentences count it, so that both agree. */
import { formatNumber } from '../../presentation/format-quantity.ts';
import type { Comparison } from '../experiment-results.ts';
import { type Effect, formatSize } from './effects.ts';
import type { InputPair } from './pair-runs.ts';

/** `within`: no difference that matters. */
export type PairRating = 'better' | 'worse' | 'lower' | 'higher' | 'within';

/** Direction and margin by which pairs are rated. */
export interface RatingRule {
  objective: 'minimize' | 'maximize' | 'none';
  effect: Pick<Effect, 'measure' | 'margin'>;
}

/** Returns the rating; null for a pair with neither a change nor a failure of one side. A failure is the worst value. */
export function ratePair(
  { change, failed }: Pick<InputPair, 'change' | 'failed'>,
  { objective, effect: { margin } }: RatingRule,
): PairRating | null {
  if (change === null && failed === null) return null;
  if (change !== null && change >= (margin?.low ?? 0) && change <= (margin?.high ?? 0)) return 'within';
  const isLost = change === null ? failed === 'candidate' : change < 0 === (objective === 'maximize');
  return objective === 'none' ? (isLost ? 'higher' : 'lower') : isLost ? 'worse' : 'better';
}

/** Counts the pairs by rating: won is better or lower, and lost is worse or higher. */
export function countPairs(pairs: readonly InputPair[], rule: RatingRule) {
  const ratings = pairs.map((pair) => ratePair(pair, rule)).filter((rating) => rating !== null);
  const count = (...some: PairRating[]) => ratings.filter((rating) => some.includes(rating)).length;
  return { won: count('better', 'lower'), within: count('within'), lost: count('worse', 'higher') };
}

/** The numbers of units by any difference, as the tests count them, and those of which both sides failed. */
export type PairTally = Comparison['inputs'] & { failed: number };

/** Returns the counts, and what they leave out, in sentences; null without pairs. */
export function describePairs(
  view: RatingRule & { listPairs?(): readonly InputPair[]; tally?: PairTally },
  unit: string,
): string | null {
  const { objective, effect, tally, listPairs } = view;
  const { won, within, lost } = countPairs(listPairs?.() ?? [], view);
  const rated = won + within + lost;
  if (rated === 0) return null;
  const { usable, total, failed } = tally ?? { usable: rated, total: rated, failed: 0 };
  const [better, worse] = objective === 'none' ? ['Lower', 'higher'] : ['Better', 'worse'];
  const margin = effect.margin?.high ?? 0;
  const alike = margin === 0 ? 'equal' : `within ±${formatSize(effect.measure, margin)}`;
  const left = total - usable;
  const both = Math.min(failed, left);
  const reasons = [
    both > 0 && `neither side has a number on ${formatNumber(both)}`,
    both < left && `${formatNumber(left - both)} did not end on both sides`,
  ].filter((reason) => reason !== false);
  return [
    `${better} on ${formatNumber(won)} of ${rated < usable ? 'the newest ' : ''}${formatNumber(rated)} ${unit}s, ${alike} on ${formatNumber(within)}, ${worse} on ${formatNumber(lost)}.`,
    ...(rated < usable ? [`The experiment compares ${formatNumber(usable)}.`] : []),
    ...(left > 0
      ? [
          `${formatNumber(left)} of ${formatNumber(total)} ${unit}s ${left === 1 ? 'is' : 'are'} left out: ${reasons.join(', ')}.`,
        ]
      : []),
  ].join(' ');
}
