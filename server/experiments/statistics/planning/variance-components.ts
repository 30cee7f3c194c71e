/**
 * The two parts of the variance of effects. Inputs respond differently to the candidate, and runs of the same input differ
 * by random seeds and time limits. Repetitions reduce only the second part.
 */
import { mean, sumSquaredDeviations } from '../numbers.ts';

/** Variances of the effect of one pair of runs, on the scale of the effect. */
export interface VarianceComponents {
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
