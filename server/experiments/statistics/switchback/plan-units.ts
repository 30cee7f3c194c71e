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
import { assignUnits, findCountedUnits, listCoins, type SwitchbackDesign, throwCoins } from './design.ts';
import { findUnitsForVerdict } from './draw-plan.ts';
import type { SwitchbackEstimate } from './estimate.ts';

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
export function planUnitsForEquivalence(
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
