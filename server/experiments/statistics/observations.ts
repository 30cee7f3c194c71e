/** Observations: the runs of an experiment, each with the indicators it reported. */
import type { GroupedSummary } from '@switchyard/contract/experiments/grouped-summaries.ts';
import type { EnsembleGain } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { findIndicator } from '../../runs/results/indicators.ts';

/** An incumbent found `seconds` after the start of the run. */
export interface Incumbent {
  seconds: number;
  value: number;
}

/** The fields of a run that statistics read. */
export interface Observation {
  /** Absent for a run that could not be submitted. */
  run_id?: string;
  instance_id: string;
  version_id: string;
  /** The ensemble of an ensemble run, which has no instance; absent for other runs. */
  ensemble_id?: string;
  input_id: string;
  /** Key of the option set; null or empty for none. */
  option_set: string | null;
  /** Null or empty for none. */
  scenario_id: string | null;
  /** From 0; null where the experiment has no repetitions, which counts as 0. */
  repetition: number | null;
  /** succeeded, failed, canceled or deleted; any other status counts as pending. */
  status: string;
  indicators: readonly { name: string; value: unknown }[];
  /** Position of the run's input in the plan of the experiment, or the time of the original run; 0 by default. */
  position?: number;
  /** Hash of the input's content; inputs with the same hash count as one. */
  content?: string | null;
  /** Cluster of the input for each clustering, such as the caller. */
  clusters?: Readonly<Record<string, string>>;
  /** Value of each feature of the input; absent for an input without it. */
  features?: Readonly<Record<string, number | string>>;
  /** Number of its randomised block, in the order of submission; null or absent for a run outside of a random order. */
  block?: number | null;
  /** True: somebody added the run to the experiment, whose plan does not have it. */
  is_joined?: boolean;
  /** Hash of the executable and the settings of a planned run; absent for an ensemble run, and for one that never started. */
  setup?: string;
  /** Conditions under which the app started; absent for a run that was not executed here. */
  start?: RunStart | null;
  /** The gain of an ensemble run over fewer child runs; absent for other runs, and for one without a result. */
  gain?: Pick<EnsembleGain, 'statistics_path' | 'objective' | 'best_of_k'>;
  /** Solutions that the run found over time, ascending; absent for a run that reported none. */
  incumbents?: readonly Incumbent[];
}

/** Start of a run, with the conditions of its host at that time. */
export interface RunStart {
  /** True: the duration of an ensemble run includes time in which a child run waited for a slot. */
  has_waited?: boolean;
  /** Milliseconds since the epoch. */
  started_at: number;
  host: string;
  concurrent_runs: number;
  load: number;
}

/** Numbers of runs by status. */
type RunCounts = GroupedSummary['runs'];

/**
 * Returns the value as a number for statistics, or null. Only finite numbers count: a flag is no measurement, and runs
 * store "nan", "+inf" and "-inf" as texts. Minus zero becomes zero.
 */
export function toUsableNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value + 0 : null;
}

/** Returns the reported values by name. The last value of a name that a run reports twice counts, as in JSON. */
export function indexIndicators({ indicators }: Observation): ReadonlyMap<string, unknown> {
  return new Map(indicators.map(({ name, value }) => [name, value]));
}

/**
 * Returns the value that a run reported for an indicator under any of its names, or undefined. The last value of a name
 * counts. A scan of a run's 100 indicators takes about as long as a lookup in a cached map per run (measured for 10,000
 * runs), so there is no cache.
 */
export function findReportedValue({ indicators }: Observation, indicator: string): unknown {
  return findIndicator({ get: (name) => findLastValue(indicators, name) }, indicator);
}

function findLastValue(indicators: Observation['indicators'], name: string): unknown {
  return indicators.findLast((indicator) => indicator.name === name)?.value;
}

/** Returns the runs that exist: those that were not deleted. */
export function selectExisting(observations: readonly Observation[]): Observation[] {
  return observations.filter(({ status }) => status !== 'deleted');
}

/** Returns the numbers of existing runs by status. */
export function countRuns(observations: readonly Observation[]): RunCounts {
  const counts = { total: 0, succeeded: 0, failed: 0, canceled: 0, pending: 0, without_statistics: 0 };
  for (const { status, indicators } of selectExisting(observations)) {
    counts.total += 1;
    if (status === 'succeeded') {
      counts.succeeded += 1;
      if (indicators.length === 0) counts.without_statistics += 1;
    } else if (status === 'failed') counts.failed += 1;
    else if (status === 'canceled') counts.canceled += 1;
    else counts.pending += 1;
  }
  return counts;
}

/** Returns the number of runs that succeeded without a usable number of an indicator. */
export function countMissing(observations: readonly Observation[], indicator: string): number {
  return observations.filter(
    (run) => run.status === 'succeeded' && toUsableNumber(findReportedValue(run, indicator)) === null,
  ).length;
}

/** Compares texts by their code units, so that the order does not depend on the locale of the machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
