/**
 * Plans of batch, scenario and shadow experiments. The mean effect of one input has the variance
 * between² + 2 within² / repetitions. The factor 2 stands for the noise of both sides. Repetitions reduce that noise, and
 * only inputs reduce the variation of the effect between inputs.
 */
import { computeDetectableEffect, computeUnitsToDetect, type PowerTarget } from '../sample-size.ts';

/** The spread of a paired experiment, as standard deviations on the scale of the effect. */
export interface PairedSpread {
  /** Of the true effect between inputs. */
  between_inputs: number;
  /** Of one run around the mean of its input, on each side. */
  within_input: number;
  /** Number of inputs that say as much as one independent input; above 1 for inputs that depend on each other. */
  design_effect: number;
}

/** Inputs and repetitions that find the difference. */
export interface PairedPlan {
  repetitions: number;
  inputs: number;
  /** Runs of both sides together. */
  runs: number;
}

/** The largest planned number, so that it stays exact. */
const PLANNED_MAX = Number.MAX_SAFE_INTEGER;

/** Returns the number of inputs, and of runs of both sides, for each number of repetitions. */
export function planInputs(
  effect: number,
  spread: PairedSpread,
  target: PowerTarget,
  repetitions: readonly number[],
): PairedPlan[] {
  // In units of the effect, so that the squares of large numbers do not overflow.
  const scaled = {
    ...spread,
    between_inputs: spread.between_inputs / effect,
    within_input: spread.within_input / effect,
  };
  return repetitions.map((count) => {
    const units = computeUnitsToDetect(1, computeInputVariance(scaled, count), target);
    const inputs = Math.min(PLANNED_MAX, Math.ceil(units * spread.design_effect));
    return { repetitions: count, inputs, runs: Math.min(PLANNED_MAX, 2 * inputs * count) };
  });
}

/** Returns the smallest effect that the plan finds; infinite for a plan that cannot give a verdict. */
export function computeDetectableByInputs(
  { inputs, repetitions }: { inputs: number; repetitions: number },
  spread: PairedSpread,
  target: PowerTarget,
): number {
  const effective = inputs / spread.design_effect;
  return computeDetectableEffect(effective, computeInputVariance(spread, repetitions), target);
}

/** Returns the variance of the mean effect of one input with this number of repetitions. */
function computeInputVariance({ between_inputs, within_input }: PairedSpread, repetitions: number): number {
  return between_inputs ** 2 + (2 * within_input ** 2) / repetitions;
}
