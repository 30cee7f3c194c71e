/**
 * Views of benchmark results that operations research uses: performance profiles, distribution functions, and the virtual
 * best and worst solver.
 */

/** The value of one alternative on one input; null for a failure. */
export interface BenchmarkValue {
  alternative: string;
  input: string;
  value: number | null;
}

/** A step function: the share of inputs at or below each point. */
export interface StepFunction {
  alternative: string;
  points: { x: number; share: number }[];
}

/** Values by input, then by alternative. */
function indexByInput(values: readonly BenchmarkValue[]): Map<string, Map<string, number | null>> {
  const inputs = new Map<string, Map<string, number | null>>();
  for (const { input, alternative, value } of values) {
    const entry = inputs.get(input) ?? new Map<string, number | null>();
    entry.set(alternative, value);
    inputs.set(input, entry);
  }
  return inputs;
}

/**
 * Performance profiles (Dolan and Moré, Mathematical Programming 2002): for each alternative, the share of inputs on which
 * its value is at most x times the best value of all alternatives. Values must be above 0; with `maximize` the ratio is
 * best / value. A failure never gets into the share. More than two alternatives can swap ranks when one is removed (Gould
 * and Scott, ACM TOMS 2016), so pairs are to be compared by profiles of their own.
 */
export function computePerformanceProfiles(
  values: readonly BenchmarkValue[],
  maximize = false,
): StepFunction[] {
  const ratios = new Map<string, number[]>();
  const inputs = indexByInput(values);
  for (const { alternative } of values) ratios.set(alternative, []);
  for (const entry of inputs.values()) {
    const known = [...entry.values()].filter((value) => value !== null);
    if (known.length === 0) continue;
    const best = maximize ? Math.max(...known) : Math.min(...known);
    for (const [alternative, value] of entry)
      if (value !== null) ratios.get(alternative)?.push(maximize ? best / value : value / best);
  }
  return [...ratios].map(([alternative, list]) => ({ alternative, points: toSteps(list, inputs.size) }));
}

/** Empirical distribution functions: the share of inputs whose value is at most x; failures never get into the share. */
export function computeDistributionFunctions(values: readonly BenchmarkValue[]): StepFunction[] {
  const lists = new Map<string, { known: number[]; total: number }>();
  for (const { alternative, value } of values) {
    const entry = lists.get(alternative) ?? { known: [], total: 0 };
    entry.total += 1;
    if (value !== null) entry.known.push(value);
    lists.set(alternative, entry);
  }
  return [...lists].map(([alternative, { known, total }]) => ({
    alternative,
    points: toSteps(known, total),
  }));
}

function toSteps(values: readonly number[], total: number): { x: number; share: number }[] {
  const ascending = [...values].sort((a, b) => a - b);
  return ascending.flatMap((x, index) =>
    ascending[index + 1] === x ? [] : [{ x, share: (index + 1) / total }],
  );
}

/** The best or worst value of any alternative on each input (virtual best and virtual worst solver). */
export interface VirtualSolver {
  input: string;
  /** Null when every alternative failed (best) or any failed (worst). */
  best: number | null;
  worst: number | null;
  /** Alternatives that reached the best value. */
  winners: string[];
}

/** The virtual best and worst solver over all alternatives. */
export function computeVirtualSolvers(values: readonly BenchmarkValue[], maximize = false): VirtualSolver[] {
  return [...indexByInput(values)].map(([input, entry]) => {
    const known = [...entry.values()].filter((value) => value !== null);
    const extremes = known.length === 0 ? null : [Math.min(...known), Math.max(...known)];
    const best = extremes?.[maximize ? 1 : 0] ?? null;
    const worst = known.length < entry.size ? null : (extremes?.[maximize ? 0 : 1] ?? null);
    const winners = [...entry].filter(([, value]) => value !== null && value === best).map(([name]) => name);
    return { input, best, worst, winners };
  });
}
