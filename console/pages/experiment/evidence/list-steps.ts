/** Empirical distribution functions of one indicator: the share of inputs whose value is at most x. */
import type { Group } from '@switchyard/contract/experiments/presentation/group-labels.ts';
import {
  belongsToGroup,
  hasOutcome,
  mean,
  type PairedRun,
  readValue,
} from '@switchyard/contract/experiments/presentation/pair-runs.ts';

/** A step of a distribution function. */
export interface StepPoint {
  x: number;
  share: number;
}

/** Returns the steps of the values among `total` inputs; inputs without a value leave the function below 1. */
export function listSteps(values: readonly number[], total = values.length): StepPoint[] {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted.flatMap((x, index) =>
    // Equal values are one step.
    sorted[index + 1] === x ? [] : [{ x, share: (index + 1) / total }],
  );
}

/** Returns the share at x: that of the last step at or before it. */
export function findShare(steps: readonly StepPoint[], x: number): number {
  return steps.findLast((step) => step.x <= x)?.share ?? 0;
}

/** The runs whose values are distributed. */
export interface DistributedRuns {
  runs: readonly PairedRun[];
  indicator: string;
  readInput: (run: PairedRun) => string;
}

/** Returns the steps of a group of runs. The value of an input is the mean over its runs, and a failed input has none. */
export function listGroupSteps({ runs, indicator, readInput }: DistributedRuns, group: Group): StepPoint[] {
  const inputs = new Map<string, number[]>();
  for (const run of runs) {
    if (!belongsToGroup(run, group) || !hasOutcome(run)) continue;
    const input = readInput(run);
    const values = inputs.get(input) ?? [];
    const value = readValue(run, indicator);
    if (value !== null) values.push(value);
    inputs.set(input, values);
  }
  const means = [...inputs.values()].filter((values) => values.length > 0).map(mean);
  return listSteps(means, inputs.size);
}
