/**
 * Draws the plan of a switchback test, and finds the number of units that a design needs for a verdict.
 *
 * By chance a plan may leave too few counted units. Then all coins are thrown again, and the analysis compares the plan only
 * with plans that have enough of them (reference.ts).
 */

import { RandomGenerator } from '../../../platform/random-generator.ts';
import { chooseFinalAlpha, SMALL_COINS_MAX } from '../error-rates.ts';
import {
  assignUnits,
  hasEnoughCountedUnits,
  listCoins,
  type SwitchbackDesign,
  throwCoins,
} from './design.ts';

const DRAWS_MAX = 100;

/** Draws the side of each unit from the seed: 1 for the candidate, 0 for the control. */
export function drawPlan(design: SwitchbackDesign, seed: string): Uint8Array {
  const generator = new RandomGenerator(`plan ${seed}`);
  const coins = listCoins(design);
  const draw = () => assignUnits(coins, throwCoins(coins, generator), design.units);
  let plan = draw();
  for (let draws = 1; draws < DRAWS_MAX && !hasEnoughCountedUnits(plan, design.carryOverUnits); draws += 1)
    plan = draw();
  return plan;
}

/** Returns true if a test with this plan can have a verdict at its end. */
export function canPlanDecide(design: SwitchbackDesign, plan: Uint8Array): boolean {
  const { pValue, errorRate } = computeSmallestPValue(design);
  return hasEnoughCountedUnits(plan, design.carryOverUnits) && pValue <= errorRate;
}

/** Up to this number of coins the p-value is computed from every plan; with more it is far below the level. */
const LISTED_COINS_MAX = 8;

/**
 * Returns the smallest p-value that the test can give, the error rate of its verdict, and the share of plans with enough
 * counted units.
 */
export function computeSmallestPValue(design: SwitchbackDesign): {
  pValue: number;
  errorRate: number;
  share: number;
} {
  const coins = listCoins(design);
  // Without carry-over a plan and its mirror image have the same statistic.
  const equal = design.carryOverUnits === 0 ? 2 : 1;
  const total = coins.length <= LISTED_COINS_MAX ? 2 ** coins.length : SHARE_DRAWS;
  const generator = new RandomGenerator('share of plans');
  let enough = 0;
  for (let plan = 0; plan < total; plan += 1) {
    const heads =
      coins.length <= LISTED_COINS_MAX
        ? coins.map((_coin, index) => (plan >> index) & 1)
        : throwCoins(coins, generator);
    const assignment = assignUnits(coins, heads, design.units);
    if (hasEnoughCountedUnits(assignment, design.carryOverUnits)) enough += 1;
  }
  const share = enough / total;
  const pValue = share === 0 ? 1 : Math.min(1, equal / (share * 2 ** coins.length));
  return { pValue, errorRate: chooseFinalAlpha(coins.length, SMALL_COINS_MAX), share };
}

const SHARE_DRAWS = 199;
const SHARE_MIN = 0.5;

/**
 * Returns the smallest number of units with which at least half of the plans can have a verdict at this share of the error
 * rate. Null when more than `maximum` units would be necessary.
 */
export function findUnitsForVerdict(
  design: Omit<SwitchbackDesign, 'units'>,
  maximum: number,
  weight = 1,
): number | null {
  const isEnough = (units: number) => {
    const { pValue, errorRate, share } = computeSmallestPValue({ ...design, units });
    return share >= SHARE_MIN && pValue <= errorRate * weight;
  };
  // Doubling first: a plan of the maximum is 40 times as long as most answers, and every undecided indicator asks.
  let [tooFew, enough] = [1, 2];
  while (!isEnough(enough)) {
    if (enough >= maximum) return null;
    [tooFew, enough] = [enough, Math.min(maximum, 2 * enough)];
  }
  while (enough - tooFew > 1) {
    const middle = Math.floor((tooFew + enough) / 2);
    if (isEnough(middle)) enough = middle;
    else tooFew = middle;
  }
  return enough;
}
