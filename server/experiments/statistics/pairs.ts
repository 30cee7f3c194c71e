/**
 * Pairs the runs of two sides by input. An input is the independent unit, because its repetitions share its properties.
 * So a comparison averages them first.
 *
 * Within an input, the first of these rules that applies pairs the runs.
 * 1. Runs with the same option set and repetition make a pair, where both sides ran the same ones.
 * 2. Runs with the same repetition make a pair, because each side of a scenario test has its own option sets.
 * 3. The means of both sides make one pair.
 *
 * A run without a usable number makes its pair unusable; a mean omits it.
 */
import { compareText, findReportedValue, type Observation, toUsableNumber } from './observations.ts';

/** One pair of values; null for a side without a usable number. */
interface Pair {
  control: number | null;
  candidate: number | null;
}

/** An input with its pairs for one indicator. */
export interface PairedInput {
  input_id: string;
  pairs: Pair[];
  /** True when the sides ran different repetitions, so that the input is one pair of means. */
  by_means: boolean;
}

interface Value {
  key: string;
  repetition: string;
  number: number | null;
}

/** Returns every input of either side, in the order of their ids, with its pairs for one indicator. */
export function pairInputs(
  control: readonly Observation[],
  candidate: readonly Observation[],
  indicator: string,
): PairedInput[] {
  const controls = groupValuesByInput(control, indicator);
  const candidates = groupValuesByInput(candidate, indicator);
  return [...new Set([...controls.keys(), ...candidates.keys()])].sort(compareText).map((input_id) => {
    const left = controls.get(input_id) ?? [];
    const right = candidates.get(input_id) ?? [];
    const pairs =
      pairBy(left, right, ({ key }) => key) ?? pairBy(left, right, ({ repetition }) => repetition);
    return pairs
      ? { input_id, pairs, by_means: false }
      : {
          input_id,
          pairs: [{ control: averageValues(left), candidate: averageValues(right) }],
          by_means: true,
        };
  });
}

function groupValuesByInput(runs: readonly Observation[], indicator: string): Map<string, Value[]> {
  const inputs = new Map<string, Value[]>();
  for (const run of runs) {
    const repetition = `${run.repetition ?? 0}`;
    const number = run.status === 'succeeded' ? toUsableNumber(findReportedValue(run, indicator)) : null;
    const value = { key: JSON.stringify([run.option_set ?? '', repetition]), repetition, number };
    const list = inputs.get(run.input_id);
    if (list) list.push(value);
    else inputs.set(run.input_id, [value]);
  }
  return inputs;
}

/** Returns the pairs by name, in the order of the names; null unless both sides have the same names, each once. */
function pairBy(left: Value[], right: Value[], readName: (value: Value) => string): Pair[] | null {
  const lefts = new Map(left.map((value) => [readName(value), value.number]));
  const rights = new Map(right.map((value) => [readName(value), value.number]));
  if (lefts.size !== left.length || rights.size !== right.length || lefts.size !== rights.size) return null;
  if (![...lefts.keys()].every((name) => rights.has(name))) return null;
  return [...lefts.keys()]
    .sort(compareText)
    .map((name) => ({ control: lefts.get(name) ?? null, candidate: rights.get(name) ?? null }));
}

/**
 * Returns the mean of the usable numbers, or null. It adds the smallest first, so that the order of runs does not change
 * the last digit, and divides before it adds, so that the sum cannot overflow.
 */
function averageValues(values: readonly Value[]): number | null {
  const numbers = values.flatMap(({ number }) => (number === null ? [] : [number])).sort((a, b) => a - b);
  if (numbers.length === 0) return null;
  return numbers.reduce((total, number) => total + number / numbers.length, 0);
}
