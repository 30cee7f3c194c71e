/**
 * Runs of two sides brought together by input. An input is the independent unit: its repetitions share all that is
 * special about it, so they are averaged before anything is concluded.
 *
 * Within an input, runs are paired by option set and repetition where both sides ran the same ones; else by repetition
 * alone where those are the same (the sides of a scenario test have option sets of their own); else the input gives one
 * pair, the means of both sides. A run without a usable number makes its pair unusable, or is left out of the mean.
 */
import { compareText, findReportedValue, type Observation, toUsableNumber } from './observations.ts';

/** Null: that side has no usable number here. */
interface Pair {
  control: number | null;
  candidate: number | null;
}

export interface PairedInput {
  input_id: string;
  pairs: Pair[];
  /** Whether the sides ran other repetitions, so that the input is one pair of means. */
  by_means: boolean;
}

interface Value {
  key: string;
  repetition: string;
  number: number | null;
}

/** Every input of either side, in the order of their ids, with its pairs for one indicator. */
export function pairInputs(
  control: readonly Observation[],
  candidate: readonly Observation[],
  indicator: string,
): PairedInput[] {
  const controls = valuesByInput(control, indicator);
  const candidates = valuesByInput(candidate, indicator);
  return [...new Set([...controls.keys(), ...candidates.keys()])].sort(compareText).map((input_id) => {
    const left = controls.get(input_id) ?? [];
    const right = candidates.get(input_id) ?? [];
    const pairs =
      pairBy(left, right, ({ key }) => key) ?? pairBy(left, right, ({ repetition }) => repetition);
    return pairs
      ? { input_id, pairs, by_means: false }
      : { input_id, pairs: [{ control: meanOf(left), candidate: meanOf(right) }], by_means: true };
  });
}

function valuesByInput(runs: readonly Observation[], indicator: string): Map<string, Value[]> {
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

/** Pairs by a name, in the order of the names; null unless each side has the same names, each once. */
function pairBy(left: Value[], right: Value[], nameOf: (value: Value) => string): Pair[] | null {
  const lefts = new Map(left.map((value) => [nameOf(value), value.number]));
  const rights = new Map(right.map((value) => [nameOf(value), value.number]));
  if (lefts.size !== left.length || rights.size !== right.length || lefts.size !== rights.size) return null;
  if (![...lefts.keys()].every((name) => rights.has(name))) return null;
  return [...lefts.keys()]
    .sort(compareText)
    .map((name) => ({ control: lefts.get(name) ?? null, candidate: rights.get(name) ?? null }));
}

/** Smallest first, so that the order of runs does not show in the last digit; in parts, so that it cannot overflow. */
function meanOf(values: readonly Value[]): number | null {
  const numbers = values.flatMap(({ number }) => (number === null ? [] : [number])).sort((a, b) => a - b);
  if (numbers.length === 0) return null;
  return numbers.reduce((total, number) => total + number / numbers.length, 0);
}
