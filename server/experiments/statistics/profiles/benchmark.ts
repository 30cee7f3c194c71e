/**
 * Runs as the data of a benchmark: one value for each group of runs on each input, the mean over its runs. A failed run is an
 * outcome: it lowers the share of the input that the group solved. An input counts when every group has ended on it.
 */

import { computeBoundedMean, mean } from '../numbers.ts';
import type { Observation } from '../observations.ts';
import { readOutcome } from '../paired/units.ts';

/** A run with the key of its group. */
export interface GroupedRun {
  group: string;
  run: Observation;
}

/** The values of a benchmark. */
export interface Benchmark {
  /** A value for each group on each input that counts. */
  values: (BenchmarkValue & { solved_share: number })[];
  /** The id of each input that counts, by the key of its content. */
  inputs: ReadonlyMap<string, string>;
  /** Inputs with a run of any group. */
  total: number;
}

/** Returns the benchmark of an indicator. */
export function buildBenchmark(
  runs: readonly GroupedRun[],
  groups: readonly string[],
  indicator: string,
): Benchmark {
  const formatKey = createInputKeys(runs);
  const byInput = Map.groupBy(runs, ({ run }) => formatKey(run));
  const benchmark: Benchmark & { inputs: Map<string, string> } = {
    values: [],
    inputs: new Map(),
    total: byInput.size,
  };
  for (const [input, own] of byInput) {
    const values = groups.map((group) => computeValue(own, group, indicator));
    if (!values.every((value) => value !== null)) continue;
    benchmark.inputs.set(input, own[0]?.run.input_id ?? '');
    benchmark.values.push(...values.map((value) => ({ ...value, input })));
  }
  return benchmark;
}

/**
 * Returns the function that tells inputs apart: by content, because a content that occurs twice is one input. A run without
 * a known content, such as one that could not be created, belongs to the only content of its id, if there is one.
 */
export function createInputKeys(runs: readonly GroupedRun[]): (run: Observation) => string {
  const contents = new Map<string, Set<string>>();
  for (const { run } of runs) {
    const known = contents.get(run.input_id) ?? new Set();
    contents.set(run.input_id, run.content ? known.add(run.content) : known);
  }
  return ({ input_id, content }) => {
    const [only, ...others] = contents.get(input_id) ?? [];
    const found = content ?? (others.length === 0 ? only : undefined);
    return found === undefined ? `input ${input_id}` : `content ${found}`;
  };
}

/** Returns null when the group has no outcome on the input yet, and when all its runs were canceled. */
function computeValue(
  runs: readonly GroupedRun[],
  alternative: string,
  indicator: string,
): Omit<Benchmark['values'][number], 'input'> | null {
  const outcomes = runs
    .filter(({ group }) => group === alternative)
    .map(({ run }) => readOutcome(run, indicator));
  const numbers = outcomes.filter((outcome) => typeof outcome === 'number');
  const ended = numbers.length + outcomes.filter((outcome) => outcome === 'failed').length;
  if (ended === 0 || outcomes.includes('pending')) return null;
  return {
    alternative,
    value: numbers.length === 0 ? null : computeBoundedMean(numbers),
    solved_share: numbers.length / ended,
  };
}

/** The virtual solvers over the inputs that every group solved, and the best and worst on each input. */
export interface VirtualSummary {
  /** Means over the inputs that every group solved in every run; null without one. */
  best: number | null;
  worst: number | null;
  solved_by_all: number;
  inputs: ReturnType<typeof computeVirtualSolvers>;
}

/**
 * The place of one group between the virtual solvers.
 *
 * Gaps to the virtual best and worst solver, as in PAVER. A gap is a share of the larger magnitude, from 0 to 1. A failed
 * run has the gap 1 to a best value.
 */
interface VirtualGap {
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
    best: averageKnown(solved.map(({ best }) => best ?? 0)),
    worst: averageKnown(solved.map(({ worst }) => worst ?? 0)),
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
    gap_to_best: averageKnown(gaps.map(({ to_best }) => to_best)),
    gap_to_worst: averageKnown(gaps.map(({ to_worst }) => to_worst)),
  };
}

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
function groupByInput(values: readonly BenchmarkValue[]): Map<string, BenchmarkValue[]> {
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

function averageKnown(values: readonly number[]): number | null {
  return values.length === 0 ? null : computeBoundedMean(values);
}

/** Returns the gap of a value to a reference: 0 for equal, 1 for no value or opposite signs, else the share of the larger one. */
export function computePrimalGap(value: number | null, reference: number): number {
  if (value === null || value * reference < 0) return 1;
  if (value === reference) return 0;
  return Math.abs(value - reference) / Math.max(Math.abs(value), Math.abs(reference));
}
