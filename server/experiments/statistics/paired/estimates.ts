/** Estimates on the scale that people read. */
import {
  CONFIDENCE,
  computeMeanRatio,
  estimateMeanInterval,
  estimateRatioInterval,
  type Interval,
  type Resampler,
  showsSpread,
} from '../bootstrap.ts';
import { convertEstimate, type Estimate } from '../comparison/effect-scale.ts';
import { computeScale, mean } from '../numbers.ts';
import { widenForLargeInputs } from '../totals/large-inputs.ts';
import { estimateWeightedRatioInterval } from '../totals/weighted-ratio.ts';
import type { Outcome, PairedInput } from './outcomes.ts';
import { buildUnits, computeBoundedMean, type PairedUnit } from './units.ts';

/** Means over solved and failed inputs, in the form of the API. */
export interface PenalizedMeans {
  failure_value: number;
  control_mean: number | null;
  candidate_mean: number | null;
  mean_difference: Estimate | null;
  ratio: Estimate | null;
}

/** The scale is of no importance: only the means of the units count here. */
const SCALE = { measure: 'absolute', tie_tolerance: 0, shift: 0, factor: 1 } as const;

/**
 * Returns the means with a value for every failed run: the penalised average runtime PAR-k, when the value is k times the
 * time limit. Every distinct input on which both sides ended has the same weight.
 */
export function estimateWithFailures(
  inputs: readonly PairedInput[],
  failureValue: number,
  resampler: Resampler,
): PenalizedMeans {
  const replaceFailure = (outcome: Outcome): Outcome => (outcome === 'failed' ? failureValue : outcome);
  const penalized = inputs.map((input) => ({
    ...input,
    pairs: input.pairs.map(({ control, candidate }) => ({
      control: replaceFailure(control),
      candidate: replaceFailure(candidate),
    })),
  }));
  const units = buildUnits(penalized, SCALE).filter(
    ({ state, control }) => state === 'complete' && control !== null,
  );
  const computeSideMean = (side: 'control' | 'candidate') =>
    units.length === 0 ? null : computeBoundedMean(units.map((unit) => unit[side] ?? 0));
  return {
    failure_value: failureValue,
    control_mean: computeSideMean('control'),
    candidate_mean: computeSideMean('candidate'),
    ...estimateTotals(units, resampler),
  };
}

/** Returns difference and ratio of the means over all units: totals, in which large inputs have more weight. */
export function estimateTotals(
  valued: readonly PairedUnit[],
  resampler: Resampler,
): { mean_difference: Estimate | null; ratio: Estimate | null } {
  if (valued.length === 0) return { mean_difference: null, ratio: null };
  const { factor, inverse } = computeScale(
    valued.flatMap(({ control, candidate }) => [control ?? 0, candidate ?? 0]),
  );
  const controls = Float64Array.from(valued, ({ control }) => (control ?? 0) * factor);
  const candidates = Float64Array.from(valued, ({ candidate }) => (candidate ?? 0) * factor);
  const differences = candidates.map((value, index) => value - (controls[index] ?? 0));
  const ratio = computeMeanRatio(controls, candidates);
  return {
    mean_difference: convertEstimate(
      mean(differences),
      estimateDifferenceInterval(controls, differences, resampler),
      (value) => value * inverse,
    ),
    ratio:
      ratio === null
        ? null
        : convertEstimate(
            ratio,
            showsSpread(differences) ? estimateTotalRatioInterval(controls, candidates, resampler) : null,
            (value) => value,
          ),
  };
}

function estimateDifferenceInterval(
  controls: Float64Array,
  differences: Float64Array,
  resampler: Resampler,
): Interval | null {
  const interval = estimateMeanInterval(differences, resampler);
  if (interval === null) return null;
  const inputs = Array.from(differences, (difference, index) => ({
    size: Math.abs(controls[index] ?? 0),
    difference,
  }));
  return widenForLargeInputs(interval, inputs, { resampler, confidence: CONFIDENCE });
}

/** Returns the hull of both intervals; null where one of them is. */
function estimateTotalRatioInterval(
  controls: Float64Array,
  candidates: Float64Array,
  resampler: Resampler,
): Interval | null {
  const resampled = estimateRatioInterval(controls, candidates, resampler);
  const weighted = estimateWeightedRatioInterval(controls, candidates, CONFIDENCE);
  if (resampled === null || weighted === null) return null;
  return { low: Math.min(resampled.low, weighted.low), high: Math.max(resampled.high, weighted.high) };
}
