/** Sums up the latest runs of an application. */

import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';

/** Indicators of the published statistics schema. */
const OBJECTIVE = 'result.value';
const DURATION_S = 'run.duration';
const VALUES_MIN = 2;

export type ListedRun = Pick<Run, 'id' | 'status_v2' | 'created_at' | 'statistics'>;

/** A row of values, oldest first, with the sentence for readers who do not see it. */
export interface Trend {
  values: (number | undefined)[];
  label: string;
}

/** Returns the value of an indicator, or undefined if the run has no such number. */
function readNumber(run: Pick<Run, 'statistics'>, indicator: string): number | undefined {
  const value = run.statistics.indicators.find(({ name }) => name === indicator)?.value;
  return typeof value === 'number' ? value : undefined;
}

/** Returns the share of failed runs among those that have succeeded or failed, or undefined without any. */
export function computeFailureRate(runs: readonly Pick<Run, 'status_v2'>[]): number | undefined {
  const failed = runs.filter(({ status_v2 }) => status_v2 === 'failed').length;
  const succeeded = runs.filter(({ status_v2 }) => status_v2 === 'succeeded').length;
  return failed + succeeded === 0 ? undefined : failed / (failed + succeeded);
}

/** Returns the values of an indicator in the runs that have ended, or undefined below two values. */
function buildTrend(runs: readonly ListedRun[], indicator: string, name: string): Trend | undefined {
  const ended = runs.filter(({ status_v2 }) => isTerminal(status_v2)).toReversed();
  const values = ended.map((run) => readNumber(run, indicator));
  const known = values.filter((value) => value !== undefined);
  const [first] = known;
  const last = known.at(-1);
  if (first === undefined || last === undefined || known.length < VALUES_MIN) return undefined;
  return {
    values,
    label: `${name} of ${known.length} runs: from ${formatNumber(first)} to ${formatNumber(last)}`,
  };
}

/** Returns the objective of the runs, which are newest first. */
export function buildObjectiveTrend(runs: readonly ListedRun[]): Trend | undefined {
  return buildTrend(runs, OBJECTIVE, 'Objective');
}

/** Returns the durations that the runs report in seconds. */
export function buildDurationTrend(runs: readonly ListedRun[]): Trend | undefined {
  return buildTrend(runs, DURATION_S, 'Duration in seconds');
}
