/** Pairs the runs of two groups by input, for the picture of one indicator. The statistics are those of the server. */
import type { ExperimentRun } from '../experiment-runs.ts';
import type { Measure } from './effects.ts';
import type { Group } from './group-labels.ts';

/** The fields of a run that pairs need. */
export type PairedRun = Pick<
  ExperimentRun,
  | 'status_v2'
  | 'instance_id'
  | 'version_id'
  | 'option_set'
  | 'scenario_id'
  | 'repetition'
  | 'input_id'
  | 'statistics'
> & {
  id: string;
  run_type: Pick<ExperimentRun['run_type'], 'definition_id' | 'reference_id'>;
  experiment_id?: string;
};

/** How the runs of an experiment are paired, and on which scale they are compared. */
export interface PairingSettings {
  control: Group;
  candidate: Group;
  indicator: string;
  measure: Measure;
  /** Added to every value before a ratio is computed. */
  shift: number;
  /** Returns the input of a run: in a shadow test, the original. */
  readInput: (run: PairedRun) => string;
}

/** Both sides of one input. */
export interface InputPair {
  input: string;
  /** Means over the repetitions with a number on both sides; null without any. */
  control: number | null;
  candidate: number | null;
  /** A share for the relative measure, else a difference; null where a side has no number. */
  change: number | null;
  /** The side that failed on the input, if only one did. */
  failed: 'control' | 'candidate' | null;
  /** Ids of the first pair of runs. */
  runs: { control: string; candidate: string };
}

/** Returns the input of a run in a batch experiment. */
export const readBatchInput = (run: PairedRun): string => run.input_id ?? '';

/** Returns the function that names the original of a copy of the shadow test, and that of an original itself. */
export const createOriginalReader =
  (test: string) =>
  (run: PairedRun): string =>
    run.experiment_id === test ? (run.run_type.reference_id ?? '') : run.id;

/** Returns the pairs, largest decrease first and inputs that a side failed on last. Inputs without a pair are absent. */
export function pairRuns(runs: readonly PairedRun[], settings: PairingSettings): InputPair[] {
  const controls = indexRuns(runs, settings.control, settings);
  const candidates = indexRuns(runs, settings.candidate, settings);
  const pairs = [...controls].flatMap(([input, own]): InputPair[] => {
    const others = candidates.get(input);
    const pair = others && pairInput(input, { control: own, candidate: others }, settings);
    return pair ? [pair] : [];
  });
  const rank = ({ change, failed }: InputPair): number =>
    change ?? (failed === null ? Number.NaN : Number.POSITIVE_INFINITY);
  return pairs.toSorted(
    (one, other) => compareRanks(rank(one), rank(other)) || one.input.localeCompare(other.input),
  );
}

function compareRanks(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

/** Runs of one input by repetition. */
type Repetitions = ReadonlyMap<number, PairedRun>;

function indexRuns(
  runs: readonly PairedRun[],
  group: Group,
  { readInput }: PairingSettings,
): Map<string, Map<number, PairedRun>> {
  const inputs = new Map<string, Map<number, PairedRun>>();
  for (const run of runs) {
    if (!belongsToGroup(run, group)) continue;
    const input = readInput(run);
    const repetitions = inputs.get(input) ?? new Map<number, PairedRun>();
    repetitions.set(run.repetition ?? 0, run);
    inputs.set(input, repetitions);
  }
  return inputs;
}

/** Returns true for a run of the group. */
export function belongsToGroup(run: PairedRun, group: Group): boolean {
  const isSameApp =
    group.ensemble_id === undefined
      ? run.instance_id === group.instance_id && run.version_id === group.version_id
      : run.run_type.definition_id === group.ensemble_id;
  return (
    isSameApp &&
    (run.option_set ?? '') === (group.option_set ?? '') &&
    (run.scenario_id ?? '') === (group.scenario_id ?? '')
  );
}

function pairInput(
  input: string,
  sides: { control: Repetitions; candidate: Repetitions },
  { indicator, measure, shift }: PairingSettings,
): InputPair | null {
  const pairs = [...sides.control].flatMap(([repetition, control]) => {
    const candidate = sides.candidate.get(repetition);
    return candidate && hasOutcome(control) && hasOutcome(candidate) ? [{ control, candidate }] : [];
  });
  const [first] = pairs;
  if (!first) return null;
  const valued = pairs.flatMap((pair) => {
    const control = readValue(pair.control, indicator);
    const candidate = readValue(pair.candidate, indicator);
    return control === null || candidate === null ? [] : [{ control, candidate }];
  });
  const runs = { control: first.control.id, candidate: first.candidate.id };
  if (valued.length === 0) {
    const control = countValues(pairs, 'control', indicator);
    const candidate = countValues(pairs, 'candidate', indicator);
    const failed = control === candidate ? null : control < candidate ? 'control' : 'candidate';
    return { input, control: null, candidate: null, change: null, failed, runs };
  }
  const control = mean(valued.map((pair) => pair.control));
  const candidate = mean(valued.map((pair) => pair.candidate));
  const change = measure === 'relative' ? (candidate + shift) / (control + shift) - 1 : candidate - control;
  return { input, control, candidate, change: Number.isFinite(change) ? change : null, failed: null, runs };
}

/** Returns true for a run that counts: one that succeeded or failed. */
export function hasOutcome({ status_v2 }: PairedRun): boolean {
  return status_v2 === 'succeeded' || status_v2 === 'failed';
}

function countValues(
  pairs: readonly { control: PairedRun; candidate: PairedRun }[],
  side: 'control' | 'candidate',
  indicator: string,
): number {
  return pairs.filter((pair) => readValue(pair[side], indicator) !== null).length;
}

/** Returns the value of the run; a flag counts as 1 or 0. Null for a failed run, and for one without a number. */
export function readValue({ status_v2, statistics }: PairedRun, indicator: string): number | null {
  if (status_v2 !== 'succeeded') return null;
  const value = statistics.indicators.findLast(({ name }) => name === indicator)?.value;
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Returns the mean of the values; NaN without any. */
export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
