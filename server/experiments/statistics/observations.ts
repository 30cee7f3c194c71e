/** What statistics look at: runs of an experiment that have ended, each with the indicators it reported. */
import { findIndicator } from '../../runs/results/indicators.ts';

/** One run of an experiment, as far as statistics care. */
export interface Observation {
  instance_id: string;
  version_id: string;
  input_id: string;
  /** Key of the option set; null or empty: none. */
  option_set: string | null;
  /** Null or empty: none. */
  scenario_id: string | null;
  /** From 0; null where the experiment has no repetitions, which counts as 0. */
  repetition: number | null;
  /** succeeded, failed, canceled; any other status counts as not yet ended. */
  status: string;
  indicators: readonly { name: string; value: unknown }[];
}

/** How many runs there are, by how they ended. Only those that succeeded give values. */
export interface RunCounts {
  total: number;
  succeeded: number;
  failed: number;
  canceled: number;
  /** Those that have not ended. */
  pending: number;
  /** Those that succeeded and reported no indicator at all. */
  without_statistics: number;
}

/**
 * The number that a value stands for in statistics, or null. Only finite numbers count: flags are no measurements, and
 * "nan", "+inf" and "-inf" are kept by runs as texts that say there is no number. Minus zero is zero.
 */
export function toUsableNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value + 0 : null;
}

const byName = new WeakMap<Observation['indicators'], ReadonlyMap<string, unknown>>();

/**
 * What a run reported, by name; of a name reported twice the last value counts, as in JSON. Made once per run: a hundred
 * indicators are asked of each run, several times each.
 */
export function indexIndicators({ indicators }: Observation): ReadonlyMap<string, unknown> {
  let reports = byName.get(indicators);
  if (!reports) {
    reports = new Map(indicators.map(({ name, value }) => [name, value]));
    byName.set(indicators, reports);
  }
  return reports;
}

/** The value that a run reported for an indicator, by any of its names. Undefined: nothing. */
export function findReportedValue(observation: Observation, indicator: string): unknown {
  return findIndicator(indexIndicators(observation), indicator);
}

/** Counts runs by how they ended. */
export function countRuns(observations: readonly Observation[]): RunCounts {
  const counts = { total: 0, succeeded: 0, failed: 0, canceled: 0, pending: 0, without_statistics: 0 };
  for (const { status, indicators } of observations) {
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

/** Runs that succeeded without a usable number of an indicator. */
export function countMissing(observations: readonly Observation[], indicator: string): number {
  return observations.filter(
    (run) => run.status === 'succeeded' && toUsableNumber(findReportedValue(run, indicator)) === null,
  ).length;
}

/** Orders texts by their code units: the same on every machine, whatever its language. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
