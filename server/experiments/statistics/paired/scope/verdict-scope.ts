/** Says about which inputs and for which time a verdict holds. */

import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import {
  distinguish,
  formatEvidence,
  formatPercent,
  formatSigned,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type { Estimate } from '../../comparison/effect-scale.ts';
import { hasDirection, type Verdict } from '../../comparison/verdict.ts';
import type { PairedMeasurement } from '../compare.ts';
import { RELATED_P_VALUE_MAX } from '../dependence.ts';
import { boundOthers, countIndependent, explainIndependent, hasLoss } from '../other-units.ts';
import type { PairedUnit } from '../units.ts';

/** A verdict, the name of one unit, and the ratio of the totals. */
interface DecidedScope {
  verdict: Verdict;
  unit: string;
  total: Estimate | null;
}

/** Returns the sentences, the most important first; none for `undecided` and `same`. */
export function explainScope(measurement: PairedMeasurement, decided: DecidedScope): string[] {
  const { verdict, unit } = decided;
  const others = hasDirection(verdict)
    ? [...explainOtherUnits(measurement, verdict, unit), ...explainOpenTotal(measurement, decided)]
    : [];
  const isDecided = hasDirection(verdict) || verdict === 'equivalent';
  return [...others, ...(isDecided ? explainTime(measurement, unit) : [])];
}

/** Says on how many other units the verdict may be the opposite one: the rule of three and its extension. */
function explainOtherUnits(
  { complete, dependence, orientation }: PairedMeasurement,
  verdict: Verdict,
  unit: string,
): string[] {
  if (verdict !== 'better' && verdict !== 'worse') return [];
  const [side, word] = verdict === 'better' ? ([1, 'worse'] as const) : ([-1, 'better'] as const);
  const isOpposite = (one: PairedUnit) => hasLoss(side, one, orientation);
  const count = complete.filter(isOpposite).length;
  const high = boundOthers(complete, dependence, isOpposite);
  const independent = countIndependent(complete.length, dependence);
  const seen =
    count === 0
      ? `No ${unit} is ${word}`
      : `${formatCount(count, unit)} of ${complete.length} ${count === 1 ? 'is' : 'are'} ${word}`;
  return [
    `${seen}: with 95 % confidence, at most ${formatPercent(high)} of other ${unit}s are ${word}.${explainIndependent(complete.length, independent, unit)}`,
  ];
}

/**
 * Says that the typical unit has the verdict and the total may not have it, where the interval of the total does not show it.
 * A candidate that is 3 % better on small inputs, worse on large ones and equal in total was better in 77 to 99 % of
 * experiments.
 */
function explainOpenTotal(
  { measure, effect }: PairedMeasurement,
  { verdict, unit, total }: DecidedScope,
): string[] {
  if (measure === 'absolute' || effect === null || total?.interval == null) return [];
  const { low, high } = total.interval;
  if (effect > 0 ? low > 1 : high < 1) return [];
  const format = distinguish([low - 1, high - 1], (change, moreDigits) =>
    formatSigned(change, formatPercent, moreDigits),
  );
  return [
    `The typical ${unit} is ${verdict}; the total over all ${unit}s may not be: ${format(total.value - 1)} (95\u00a0% interval ${format(low - 1)} to ${format(high - 1)}).`,
  ];
}

/** A series of fewer units seldom shows a slow change: AR(1) 0.99 with noise was wrong in 23 to 30 % of them. */
const SLOW_CHANGE_SERIES_MIN = 150;
/** Of 300 such tests, 4 % were wrong above this p-value with 150 units, 3 % with 200 and 0.3 % with 300. */
const CONSTANT_P_VALUE_MIN = 0.5;

/**
 * Says that the verdict holds for the time of the units, where a slow change of the effect may be unseen. A warning says so
 * where it is seen.
 */
function explainTime({ complete, dependence }: PairedMeasurement, unit: string): string[] {
  const { neighbours_p_value, slow_change } = dependence;
  if (neighbours_p_value === null && slow_change === null) return [];
  if (slow_change !== null && slow_change.p_value <= RELATED_P_VALUE_MAX) return [];
  if (complete.length < SLOW_CHANGE_SERIES_MIN)
    return [
      `Fewer than ${SLOW_CHANGE_SERIES_MIN} ${unit}s seldom show an effect that changes slowly: the verdict holds for their time.`,
    ];
  if (slow_change === null || slow_change.p_value > CONSTANT_P_VALUE_MIN) return [];
  return [
    `The effect may change slowly (p = ${formatEvidence(slow_change.p_value)}): the verdict holds for the time of these ${unit}s.`,
  ];
}
