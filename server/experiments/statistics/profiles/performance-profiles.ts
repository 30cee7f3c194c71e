/**
 * Views of benchmark results that operations research uses: performance profiles, distribution functions, and the virtual
 * best and worst solver.
 */

/** The value of one alternative on one input; null for a failure. */
export interface BenchmarkValue {
  alternative: string;
  input: string;
  value: number | null;
  /** Share of the runs on the input that did not fail, by which it counts in shares; 1 by default. */
  solved_share?: number;
}

/** A step function: the share of inputs at or below each point. */
export interface StepFunction {
  alternative: string;
  points: { x: number; share: number }[];
}

/** A point that raises a share by its weight. */
interface WeightedPoint {
  x: number;
  weight: number;
}

/** Returns the values of each input, in the order of the first value of each. */
export function groupByInput(values: readonly BenchmarkValue[]): Map<string, BenchmarkValue[]> {
  return Map.groupBy(values, ({ input }) => input);
}

function listNumbers(values: readonly BenchmarkValue[]): number[] {
  return values.flatMap(({ value }) => (value === null ? [] : [value]));
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
  const ratios = new Map<string, WeightedPoint[]>();
  const inputs = groupByInput(values);
  for (const { alternative } of values) ratios.set(alternative, []);
  for (const entry of inputs.values()) {
    const known = listNumbers(entry);
    if (known.length === 0) continue;
    const best = maximize ? Math.max(...known) : Math.min(...known);
    for (const { alternative, value, solved_share = 1 } of entry)
      if (value !== null)
        ratios.get(alternative)?.push({ x: maximize ? best / value : value / best, weight: solved_share });
  }
  return [...ratios].map(([alternative, list]) => ({ alternative, points: toSteps(list, inputs.size) }));
}

/** Empirical distribution functions: the share of inputs whose value is at most x; failures never get into the share. */
export function computeDistributionFunctions(values: readonly BenchmarkValue[]): StepFunction[] {
  return [...Map.groupBy(values, ({ alternative }) => alternative)].map(([alternative, own]) => ({
    alternative,
    points: toSteps(
      own.flatMap(({ value, solved_share = 1 }) =>
        value === null ? [] : [{ x: value, weight: solved_share }],
      ),
      own.length,
    ),
  }));
}

function toSteps(points: readonly WeightedPoint[], total: number): StepFunction['points'] {
  const ascending = [...points].sort((a, b) => a.x - b.x);
  let weight = 0;
  return ascending.flatMap((point, index) => {
    weight += point.weight;
    return ascending[index + 1]?.x === point.x ? [] : [{ x: point.x, share: weight / total }];
  });
}

/** Returns at most `max` points of a step function, at least two: evenly spaced ones, with the first and the last. */
export function thinSteps(points: StepFunction['points'], max: number): StepFunction['points'] {
  if (points.length <= max) return points;
  const stride = (points.length - 1) / (max - 1);
  return Array.from({ length: max }, (_, index) => points[Math.round(index * stride)]).filter(
    (point) => point !== undefined,
  );
}

/** The best or worst value of any alternative on each input (virtual best and virtual worst solver). */
interface VirtualSolver {
  input: string;
  /** Null when every alternative failed (best) or any failed (worst). */
  best: number | null;
  worst: number | null;
  /** Alternatives that reached the best value. */
  winners: string[];
}

/** Returns the virtual best and worst solver over all alternatives. */
export function computeVirtualSolvers(values: readonly BenchmarkValue[], maximize = false): VirtualSolver[] {
  return [...groupByInput(values)].map(([input, entry]) => {
    const known = listNumbers(entry);
    const extremes = known.length === 0 ? null : [Math.min(...known), Math.max(...known)];
    const best = extremes?.[maximize ? 1 : 0] ?? null;
    const worst = known.length < entry.length ? null : (extremes?.[maximize ? 0 : 1] ?? null);
    const winners = entry.filter(({ value }) => value !== null && value === best);
    return { input, best, worst, winners: winners.map(({ alternative }) => alternative) };
  });
}
