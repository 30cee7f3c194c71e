/**
 * Sample sizes and detectable differences for a verdict with the product's own rules: two-sided at the error rate of a
 * finished experiment of that size, with at least `VERDICT_UNITS_MIN` units.
 *
 * The normal formula is n = (z(1 - α/2) + z(power))² σ² / δ². For Student's t it is raised by z²/2 (Guenther, The American
 * Statistician 1981). The result is divided by 3/π, the efficiency of the signed-rank test for normal effects. The test of
 * sign flips has more, and loses some of it by looking at two statistics.
 */
import { computeNormalQuantile } from './distributions.ts';
import { type ChooseRate, chooseFinalAlpha, findSizeAtOwnRate, VERDICT_UNITS_MIN } from './error-rates.ts';

/** Efficiency of Wilcoxon's signed-rank test relative to Student's t for normal values. */
const SIGNED_RANK_EFFICIENCY = 3 / Math.PI;

/** Power, the error rate by the size, and the share of it that the indicator has after the correction for others. */
export interface PowerTarget {
  power: number;
  weight: number;
  chooseRate: ChooseRate;
}

/** The power at an error rate. */
interface PowerAtRate {
  power: number;
  error_rate: number;
}

/**
 * Returns the smallest number of units with which the test of sign flips can reject at this share of the error rate. When
 * the candidate loses or wins all n units, the exact two-sided p-value is 2 / 2^n.
 */
export function countUnitsToReject(weight: number, chooseRate: ChooseRate = chooseFinalAlpha): number {
  return findSizeAtOwnRate((rate) => countUnitsAtRate(rate * weight), chooseRate);
}

function countUnitsAtRate(rate: number): number {
  return Math.max(VERDICT_UNITS_MIN, Math.ceil(1 - Math.log2(rate)));
}

/** Returns the number of units that find a mean effect of `effect`; infinite for an effect of 0. */
export function computeUnitsToDetect(effect: number, variance: number, target: PowerAtRate): number {
  const { level, sum } = computeQuantiles(target);
  if (effect === 0) return Number.POSITIVE_INFINITY;
  const needed = (sum ** 2 * variance) / effect ** 2 / SIGNED_RANK_EFFICIENCY + level ** 2 / 2;
  return Math.max(countUnitsAtRate(target.error_rate), Math.ceil(needed));
}

/** Returns the smallest mean effect that this number of units finds; infinite below the number that a verdict needs. */
export function computeDetectableEffect(units: number, variance: number, target: PowerAtRate): number {
  const { level, sum } = computeQuantiles(target);
  const effective = (units - level ** 2 / 2) * SIGNED_RANK_EFFICIENCY;
  if (units < countUnitsAtRate(target.error_rate) || effective <= 0) return Number.POSITIVE_INFINITY;
  return sum * Math.sqrt(variance / effective);
}

/** Returns the number of units for which the 95 % interval of equal sides fits into ±`margin`. */
export function computeUnitsForEquivalence(margin: number, variance: number, power: number): number {
  const sum = computeNormalQuantile(0.975) + computeNormalQuantile(1 - (1 - power) / 2);
  return Math.max(VERDICT_UNITS_MIN, Math.ceil((sum ** 2 * variance) / margin ** 2 + 2));
}

function computeQuantiles({ power, error_rate }: PowerAtRate): { level: number; sum: number } {
  const level = computeNormalQuantile(1 - error_rate / 2);
  return { level, sum: level + computeNormalQuantile(power) };
}
