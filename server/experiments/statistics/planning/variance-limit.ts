/**
 * Upper confidence limits of the variances of a pilot. A plan from the estimate itself has less than its power in about half
 * of all pilots. With the upper 80 % limit, four of five pilots give at least the promised power (Browne, Statistics in
 * Medicine 1995). The limits hold for normal effects.
 */
import { computeChiSquaredQuantile, computeFQuantile } from '../distributions.ts';

/** The confidence of the limit. */
export const PLAN_CONFIDENCE = 0.8;

/** An estimated variance: its distribution is that of a chi-squared variable over so many degrees of freedom. */
export interface EstimatedVariance {
  variance: number;
  degrees: number;
}

/** Returns the factor between a variance and its upper limit: degrees / χ²(0.2), 1.67 for 9 degrees. */
export function computeVarianceFactor(degrees: number): number {
  return degrees / computeChiSquaredQuantile(1 - PLAN_CONFIDENCE, degrees);
}

/**
 * Returns the upper limit of `first + weight × second` of two independent variances, by the modified large-sample method. It
 * is exact where either is 0. Positive weights are those of Graybill and Wang (JASA 1980). Negative ones are those of Ting,
 * Burdick, Graybill, Jeyaratnam and Lu (Journal of Statistical Computation and Simulation 1990).
 */
export function boundCombination(
  first: EstimatedVariance,
  second: EstimatedVariance,
  weight: number,
): number {
  const added = weight * second.variance;
  const estimate = first.variance + added;
  const above = first.variance === 0 ? 0 : (computeVarianceFactor(first.degrees) - 1) * first.variance;
  if (added === 0) return estimate + above;
  if (added > 0) return estimate + Math.hypot(above, (computeVarianceFactor(second.degrees) - 1) * added);
  if (above === 0) return estimate;
  const below = 1 - second.degrees / computeChiSquaredQuantile(PLAN_CONFIDENCE, second.degrees);
  const ratio = computeFQuantile(1 - PLAN_CONFIDENCE, first.degrees, second.degrees);
  const upper = computeVarianceFactor(first.degrees) - 1;
  const mixed = ((1 - ratio) ** 2 - (upper * ratio) ** 2 - below ** 2) / ratio;
  const squares = above ** 2 + (below * added) ** 2 - mixed * first.variance * added;
  return estimate + Math.sqrt(Math.max(0, squares));
}
