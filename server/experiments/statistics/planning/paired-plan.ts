/**
 * Plans of batch, scenario and shadow experiments. The mean effect of one input has the variance
 * between² + 2 within² / repetitions. The factor 2 stands for the noise of both sides. Repetitions reduce that noise, and
 * only inputs reduce the variation of the effect between inputs. A plan from a pilot has the upper 80 % limit of that variance.
 */
import Type, { type Static } from 'typebox';
import { findSizeAtOwnRate } from '../error-rates.ts';
import { computeScale } from '../numbers.ts';
import { computeDetectableEffect, computeUnitsToDetect, type PowerTarget } from '../sample-size.ts';
import { boundCombination } from './variances.ts';

/** A standard deviation that a pilot shows, with its degrees of freedom. */
const ObservedDeviation = Type.Object({ deviation: Type.Number(), degrees: Type.Number() });
type ObservedDeviation = Static<typeof ObservedDeviation>;

/** The two independent deviations that a pilot shows, on the scale of the effect. */
export const PilotDeviations = Type.Object({
  /** Of the mean effect of a unit over its pairs; 0 where nothing shows it. */
  units: ObservedDeviation,
  /** Of the effect of one pair around the effect of its unit; 0 with one pair for each. */
  pairs: ObservedDeviation,
  /** One divided by the pairs of a unit: the share of their variance that is in the mean. */
  pair_share: Type.Number(),
});
export type PilotDeviations = Static<typeof PilotDeviations>;

/** The spread of a paired experiment, as standard deviations on the scale of the effect. */
export interface PairedSpread {
  /** Of the true effect between inputs. */
  between_inputs: number;
  /** Of one run around the mean of its input, on each side. */
  within_input: number;
  /** Number of inputs that say as much as one independent input; above 1 for inputs that depend on each other. */
  design_effect: number;
  /** The deviations that the estimates come from; null for assumptions, which a plan takes as they are. */
  pilot: PilotDeviations | null;
}

/** Inputs and repetitions that find the difference. */
interface PairedPlan {
  repetitions: number;
  inputs: number;
  /** Runs of both sides together. */
  runs: number;
}

/** Returns the number of inputs, and of runs of both sides, for each number of repetitions; infinite for an overflow. */
export function planInputs(
  effect: number,
  spread: PairedSpread,
  target: PowerTarget,
  repetitions: readonly number[],
): PairedPlan[] {
  // In units of the effect, so that the squares of large numbers do not overflow.
  const scaled = divideSpread(spread, effect);
  const { power, weight, chooseRate } = target;
  return repetitions.map((count) => {
    const variance = computeInputVariance(scaled, count);
    const inputs = findSizeAtOwnRate((rate) => {
      const units = computeUnitsToDetect(1, variance, { power, error_rate: rate * weight });
      return Math.ceil(units * spread.design_effect);
    }, chooseRate);
    return { repetitions: count, inputs, runs: 2 * inputs * count };
  });
}

/** Returns the smallest effect that the plan finds; infinite for a plan that cannot give a verdict. */
export function computeDetectableByInputs(
  { inputs, repetitions }: { inputs: number; repetitions: number },
  spread: PairedSpread,
  { power, weight, chooseRate }: PowerTarget,
): number {
  const { between_inputs, within_input, pilot } = spread;
  const observed = pilot ? [pilot.units.deviation, pilot.pairs.deviation] : [];
  // In units of the deviations, so that the squares of large numbers do not overflow.
  const { inverse } = computeScale([between_inputs, within_input, ...observed]);
  const variance = computeInputVariance(divideSpread(spread, inverse), repetitions);
  const error_rate = chooseRate(inputs) * weight;
  return inverse * computeDetectableEffect(inputs / spread.design_effect, variance, { power, error_rate });
}

function divideSpread(
  { between_inputs, within_input, pilot, design_effect }: PairedSpread,
  divisor: number,
): PairedSpread {
  const scale = ({ deviation, degrees }: ObservedDeviation) => ({ deviation: deviation / divisor, degrees });
  return {
    between_inputs: between_inputs / divisor,
    within_input: within_input / divisor,
    design_effect,
    pilot: pilot && { ...pilot, units: scale(pilot.units), pairs: scale(pilot.pairs) },
  };
}

/**
 * Returns the variance of the mean effect of one input with this number of repetitions: for a pilot its upper limit, which
 * is never below the estimate.
 */
function computeInputVariance(spread: PairedSpread, repetitions: number): number {
  const estimate = estimateInputVariance(spread, repetitions);
  if (spread.pilot === null) return estimate;
  const { units, pairs, pair_share } = spread.pilot;
  const square = ({ deviation, degrees }: ObservedDeviation) => ({ variance: deviation ** 2, degrees });
  return Math.max(estimate, boundCombination(square(units), square(pairs), 1 / repetitions - pair_share));
}

function estimateInputVariance({ between_inputs, within_input }: PairedSpread, repetitions: number): number {
  return between_inputs ** 2 + (2 * within_input ** 2) / repetitions;
}

/** Returns the factor by which the limit of the variance of one input, run once on each side, is above its estimate. */
export function compareVariances(spread: PairedSpread): number {
  const estimate = estimateInputVariance(spread, 1);
  return estimate === 0 ? 1 : computeInputVariance(spread, 1) / estimate;
}
