/**
 * Gaps to the virtual best and worst solver, as in PAVER. A gap is a share of the larger magnitude, from 0 to 1. A failed
 * run has the gap 1 to a best value.
 */
import { clampToFinite, computeScale, mean } from '../numbers.ts';
import type { Benchmark } from './benchmark.ts';
import { computeVirtualSolvers, groupByInput } from './performance-profiles.ts';
import { computePrimalGap } from './primal-integral.ts';

/** The virtual solvers over the inputs that every group solved, and the best and worst on each input. */
export interface VirtualSummary {
  /** Means over the inputs that every group solved in every run; null without one. */
  best: number | null;
  worst: number | null;
  solved_by_all: number;
  inputs: ReturnType<typeof computeVirtualSolvers>;
}

/** The place of one group between the virtual solvers. */
export interface VirtualGap {
  /** Mean share of its runs that solved their input. */
  solved_share: number;
  /** Inputs on which it has the best value, alone or with others. */
  wins: number;
  /** Mean over the inputs that any group solved; null without one. */
  gap_to_best: number | null;
  gap_to_worst: number | null;
}

/** Returns the virtual solvers of a benchmark. */
export function summarizeVirtualSolvers(
  { values }: Pick<Benchmark, 'values'>,
  maximize: boolean,
): VirtualSummary {
  const inputs = computeVirtualSolvers(values, maximize);
  const byInput = groupByInput(values);
  const solved = inputs.filter(({ input }) =>
    (byInput.get(input) ?? []).every(({ value, solved_share = 1 }) => value !== null && solved_share === 1),
  );
  return {
    best: computeMean(solved.map(({ best }) => best ?? 0)),
    worst: computeMean(solved.map(({ worst }) => worst ?? 0)),
    solved_by_all: solved.length,
    inputs,
  };
}

/** Returns the gaps of one group. */
export function computeVirtualGap(
  { values }: Pick<Benchmark, 'values'>,
  group: string,
  { inputs }: Pick<VirtualSummary, 'inputs'>,
): VirtualGap {
  const own = new Map(
    values.filter(({ alternative }) => alternative === group).map((value) => [value.input, value]),
  );
  const gaps = inputs.flatMap(({ input, best, worst }) => {
    const found = own.get(input);
    if (!found || best === null) return [];
    const { value, solved_share } = found;
    const failed = 1 - solved_share;
    return [
      {
        to_best: solved_share * (value === null ? 0 : computePrimalGap(value, best)) + failed,
        // The worst result of an input that some group failed on is the failure.
        to_worst: solved_share * (worst === null || value === null ? 1 : computePrimalGap(value, worst)),
      },
    ];
  });
  return {
    solved_share: own.size === 0 ? 0 : mean([...own.values()].map(({ solved_share }) => solved_share)),
    wins: inputs.filter(({ winners }) => winners.includes(group)).length,
    gap_to_best: computeMean(gaps.map(({ to_best }) => to_best)),
    gap_to_worst: computeMean(gaps.map(({ to_worst }) => to_worst)),
  };
}

function computeMean(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const { factor, inverse } = computeScale(values);
  return clampToFinite(mean(values.map((value) => value * factor)) * inverse);
}
