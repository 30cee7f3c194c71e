/**
 * Upper confidence limits of the variances of a pilot. A plan from the estimate itself has less than its power in about half
 * of all pilots. With the upper 80 % limit, four of five pilots give at least the promised power (Browne, Statistics in
 * Medicine 1995). The limits hold for normal effects.
 */

import { computeChiSquaredQuantile, computeFQuantile } from '../distributions.ts';
import { mean, sumSquaredDeviations } from '../numbers.ts';

/** The confidence of the limit. */
export const PLAN_CONFIDENCE = 0.8;

/** An estimated variance: its distribution is that of a chi-squared variable over so many degrees of freedom. */
interface EstimatedVariance {
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

/** Variances of the effect of one pair of runs, on the scale of the effect. */
interface VarianceComponents {
  /** Variance between inputs of the true effect (interaction of input and candidate). */
  between_inputs: number;
  /** Variance of one pair of runs around the true effect of its input. */
  within_input: number;
  inputs: number;
  pairs: number;
  /** Variance between the mean effects of inputs, each over `typical_pairs` pairs. */
  between_means: number;
  typical_pairs: number;
}

/**
 * Returns the method-of-moments estimate for unbalanced one-way random effects (Searle, Casella and McCulloch, Variance
 * Components, 1992, chapter 3); null with fewer than two inputs. Without an input of two pairs
 * nothing separates the parts, and the whole variance counts as between inputs. Each list has the effects of one input's
 * pairs.
 *
 * The two parts of the variance of effects. Inputs respond differently to the candidate, and runs of the same input differ
 * by random seeds and time limits. Repetitions reduce only the second part.
 */
export function estimateVarianceComponents(
  effects: readonly (readonly number[])[],
): VarianceComponents | null {
  const groups = effects.filter((group) => group.length > 0);
  const pairs = groups.reduce((total, group) => total + group.length, 0);
  if (groups.length < 2) return null;
  const within = groups.reduce((total, group) => total + sumSquaredDeviations(group, mean(group)), 0);
  const degrees = pairs - groups.length;
  const within_input = degrees === 0 ? 0 : within / degrees;
  const centre = mean(groups.flat());
  const between = groups.reduce((total, group) => total + group.length * (mean(group) - centre) ** 2, 0);
  const squares = groups.reduce((total, group) => total + group.length ** 2, 0);
  const typical_pairs = (pairs - squares / pairs) / (groups.length - 1);
  const between_means = between / (groups.length - 1) / typical_pairs;
  const between_inputs = Math.max(0, between_means - within_input / typical_pairs);
  return { between_inputs, within_input, inputs: groups.length, pairs, between_means, typical_pairs };
}
