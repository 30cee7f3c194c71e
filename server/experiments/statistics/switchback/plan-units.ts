/**
 * Plans of switchback tests. The effect is the difference of two means, each of half of the counted units. Its variance is
 * four times the variance of one unit, divided by the number of counted units. Units within the carry-over of a switch
 * do not count, so a plan has more units than counted ones. The test of the carry-over order withholds 5 % of the verdicts
 * on tests without any carry-over beyond the design, so the sizes make up for them.
 */

import { SWITCHBACK_UNITS_MAX } from '@switchyard/contract/limits.ts';
import { RandomGenerator } from '../../../platform/random-generator.ts';
import {
  CARRY_OVER_ALPHA,
  type ChooseRate,
  chooseFinalAlpha,
  findSizeAtOwnRate,
  SMALL_COINS_MAX,
} from '../error-rates.ts';
import { computeScale } from '../numbers.ts';
import {
  computeDetectableEffect,
  computeUnitsForEquivalence,
  computeUnitsToDetect,
  type PowerTarget,
} from '../sample-size.ts';
import {
  assignUnits,
  findCountedUnits,
  hasEnoughCountedUnits,
  listCoins,
  type SwitchbackDesign,
  throwCoins,
} from './design.ts';
import type { SwitchbackEstimate } from './estimate.ts';

/** The spread of a switchback test. */
interface SwitchbackSpread {
  /** Standard deviation of the mean of one unit within its side, on the scale of the effect. */
  between_units: number;
  /** Share of the units that count. */
  counted_share: number;
}

/** Returns the number of units of a plan that finds the effect. */
export function planUnits(effect: number, spread: SwitchbackSpread, target: PowerTarget): number {
  // In units of the effect, so that the squares of large numbers do not overflow.
  const scaled = { ...spread, between_units: spread.between_units / effect };
  const power = raisePower(target.power);
  const { weight, chooseRate } = target;
  return findSizeAtOwnRate((rate) => {
    const atRate = { power, error_rate: rate * weight };
    const counted = computeUnitsToDetect(1, computeContrastVariance(scaled), atRate);
    return Math.ceil(counted / spread.counted_share);
  }, chooseRate);
}

/** Returns the error rate of a switchback test by its number of units: that of its number of coins. */
export function chooseRateOfDesign(design: Omit<SwitchbackDesign, 'units'>): ChooseRate {
  return (units) => {
    const coins = listCoins({ ...design, units: Math.min(units, SWITCHBACK_UNITS_MAX) });
    return chooseFinalAlpha(coins.length, SMALL_COINS_MAX);
  };
}

/** Returns the smallest effect that so many units find; infinite for a plan that cannot give a verdict. */
export function computeDetectableByUnits(
  units: number,
  spread: SwitchbackSpread,
  target: PowerTarget,
): number {
  const { inverse } = computeScale([spread.between_units]);
  const variance = computeContrastVariance({ ...spread, between_units: spread.between_units / inverse });
  const atRate = {
    power: raisePower(target.power),
    error_rate: target.chooseRate(units) * target.weight,
  };
  return inverse * computeDetectableEffect(units * spread.counted_share, variance, atRate);
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
function planUnitsForEquivalence(
  margin: number,
  spread: SwitchbackSpread,
  target: Pick<PowerTarget, 'power'>,
): number {
  const scaled = { ...spread, between_units: spread.between_units / margin };
  const power = raisePower(target.power);
  const counted = computeUnitsForEquivalence(1, computeContrastVariance(scaled), power);
  return Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(counted / spread.counted_share));
}

/** The largest power that verdicts withheld by chance leave. */
const RAISED_POWER_MAX = 0.999;

function raisePower(power: number): number {
  return Math.min(RAISED_POWER_MAX, power / (1 - CARRY_OVER_ALPHA));
}

function computeContrastVariance({ between_units }: SwitchbackSpread): number {
  return 4 * between_units ** 2;
}

const POWER = 0.8;
const MORE_MAX = 100_000;
/** Fewest counted units for an estimate of the spread. */
const COUNTED_MIN = 3;

/** The numbers of one indicator over the units that have ended. */
interface ObservedUnits {
  estimate: SwitchbackEstimate | null;
  margin: number;
  /** Units that have ended. */
  ended: number;
  /** Share of the error rate. */
  weight: number;
}

/** Counts the units beyond those that ended for a verdict with a power of 80 %; null for none or too many. */
export function countMoreUnits(
  design: SwitchbackDesign,
  { estimate, margin, ended, weight }: ObservedUnits,
): number | null {
  const counted = (estimate?.control_units ?? 0) + (estimate?.candidate_units ?? 0);
  if (estimate === null || counted < COUNTED_MIN || ended === 0) return null;
  const effect = Math.abs(estimate.effect);
  const spread = { between_units: estimate.spread, counted_share: counted / ended };
  const target = { power: POWER, weight, chooseRate: chooseRateOfDesign(design) };
  const slack = margin - effect;
  const planned = Math.min(
    effect > 0 ? planUnits(effect, spread, target) : Number.POSITIVE_INFINITY,
    slack > 0 ? planUnitsForEquivalence(slack, spread, target) : Number.POSITIVE_INFINITY,
  );
  const possible = findUnitsForVerdict(design, SWITCHBACK_UNITS_MAX, weight);
  if (possible === null) return null;
  const more = Math.max(1, planned - ended, possible - ended);
  return more <= MORE_MAX ? more : null;
}

const DRAWS_MAX = 100;

/**
 * Draws the side of each unit from the seed: 1 for the candidate, 0 for the control.
 *
 * By chance a plan may leave too few counted units. Then all coins are thrown again, and the analysis compares the plan only
 * with plans that have enough of them (reference.ts).
 */
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
