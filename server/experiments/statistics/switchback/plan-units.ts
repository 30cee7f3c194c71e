/**
 * Plans of switchback tests. The effect is the difference of two means, each of half of the counted units. Its variance is
 * four times the variance of one unit, divided by the number of counted units. Units within the carry-over of a switch
 * do not count, so a plan has more units than counted ones. The test of the carry-over order withholds 5 % of the verdicts
 * on tests without any carry-over beyond the design, so the sizes make up for them.
 */

import { RandomGenerator } from '../../../random-generator.ts';
import { CARRY_OVER_ALPHA } from '../error-rates.ts';
import {
  computeDetectableEffect,
  computeUnitsForEquivalence,
  computeUnitsToDetect,
  type PowerTarget,
} from '../sample-size.ts';
import { assignUnits, findCountedUnits, listCoins, type SwitchbackDesign, throwCoins } from './design.ts';

/** The spread of a switchback test. */
export interface SwitchbackSpread {
  /** Standard deviation of the mean of one unit within its side, on the scale of the effect. */
  between_units: number;
  /** Share of the units that count. */
  counted_share: number;
}

/** Returns the number of units of a plan that finds the effect. */
export function planUnits(effect: number, spread: SwitchbackSpread, target: PowerTarget): number {
  // In units of the effect, so that the squares of large numbers do not overflow.
  const scaled = { ...spread, between_units: spread.between_units / effect };
  const counted = computeUnitsToDetect(1, computeContrastVariance(scaled), raisePower(target));
  return Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(counted / spread.counted_share));
}

/** Returns the smallest effect that so many units find; infinite for a plan that cannot give a verdict. */
export function computeDetectableByUnits(
  units: number,
  spread: SwitchbackSpread,
  target: PowerTarget,
): number {
  const counted = units * spread.counted_share;
  return computeDetectableEffect(counted, computeContrastVariance(spread), raisePower(target));
}

const DRAWS = 400;

/** Returns the mean share of counted units over random plans of the design. The seed is fixed, so the result is too. */
export function estimateCountedShare(design: SwitchbackDesign): number {
  const generator = new RandomGenerator('counted share');
  const coins = listCoins(design);
  let counted = 0;
  for (let draw = 0; draw < DRAWS; draw += 1) {
    const assignment = assignUnits(coins, throwCoins(coins, generator), design.units);
    counted += findCountedUnits(assignment, design.carryOverUnits).reduce((total, one) => total + one, 0);
  }
  return counted / DRAWS / design.units;
}

/** Returns the number of units of a plan for which the interval of equal sides fits into ±`margin`. */
export function planUnitsForEquivalence(
  margin: number,
  spread: SwitchbackSpread,
  target: PowerTarget,
): number {
  const scaled = { ...spread, between_units: spread.between_units / margin };
  const { power } = raisePower(target);
  const counted = computeUnitsForEquivalence(1, computeContrastVariance(scaled), power);
  return Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(counted / spread.counted_share));
}

/** The largest power that verdicts withheld by chance leave. */
const RAISED_POWER_MAX = 0.999;

function raisePower({ power, weight }: PowerTarget): PowerTarget {
  return { power: Math.min(RAISED_POWER_MAX, power / (1 - CARRY_OVER_ALPHA)), weight };
}

function computeContrastVariance({ between_units }: SwitchbackSpread): number {
  return 4 * between_units ** 2;
}
