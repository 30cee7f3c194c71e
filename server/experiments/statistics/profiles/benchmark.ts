/**
 * Runs as the data of a benchmark: one value for each group of runs on each input, the mean over its runs. A failed run is an
 * outcome: it lowers the share of the input that the group solved. An input counts when every group has ended on it.
 */
import { clampToFinite, computeScale, mean } from '../numbers.ts';
import type { Observation } from '../observations.ts';
import { readOutcome } from '../paired/outcomes.ts';
import type { BenchmarkValue } from './performance-profiles.ts';

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

function computeBoundedMean(numbers: readonly number[]): number {
  const { factor, inverse } = computeScale(numbers);
  return clampToFinite(mean(numbers.map((value) => value * factor)) * inverse);
}
