/** Turns the latest runs of an application into lanes: which version each instance ran when, and what that brought. */
import { findMedian } from '@switchyard/contract/presentation/estimate-time.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import { readIndicator } from '../../client/judged-values.ts';

type LaneRun = Pick<
  Run,
  'id' | 'status_v2' | 'created_at' | 'statistics' | 'application_instance_id' | 'application_version_id'
>;

/** One run in the picture. */
export interface LanePoint {
  run: string;
  /** Creation time in milliseconds since the epoch. */
  at: number;
  /** Absent for a run without the indicator. */
  value?: number;
  version: string;
  hasFailed: boolean;
}

/** The runs of one instance, oldest first. */
export interface Lane {
  /** Empty for runs of ensembles. */
  instance: string;
  points: LanePoint[];
}

/** Returns the names of the indicators that have a number in any of the runs. */
export function listNumericIndicators(runs: readonly Pick<Run, 'statistics'>[]): string[] {
  const names = runs.flatMap(({ statistics }) =>
    statistics.indicators.filter(({ value }) => typeof value === 'number').map(({ name }) => name),
  );
  return [...new Set(names)];
}

/** Returns a lane for each instance: that of the default first, then those with most runs. The runs are newest first. */
export function listLanes(runs: readonly LaneRun[], indicator: string, defaultInstance: string): Lane[] {
  const lanes = new Map<string, LanePoint[]>();
  for (const run of runs.toReversed()) {
    const value = readIndicator(run, indicator);
    const points = lanes.get(run.application_instance_id) ?? [];
    points.push({
      run: run.id,
      at: Date.parse(run.created_at),
      ...(value !== undefined && { value }),
      version: run.application_version_id,
      hasFailed: run.status_v2 === 'failed',
    });
    lanes.set(run.application_instance_id, points);
  }
  const rank = ({ instance, points }: Lane): number =>
    instance === defaultInstance ? Number.POSITIVE_INFINITY : points.length;
  return [...lanes]
    .map(([instance, points]) => ({ instance, points }))
    .toSorted((one, other) => rank(other) - rank(one));
}

/** Returns the first run of each version in a row, oldest first. */
export function listVersionChanges({ points }: Lane): LanePoint[] {
  return points.filter(({ version }, index) => index === 0 || points[index - 1]?.version !== version);
}

/** The median of the indicator in the runs with one version. */
export interface VersionMedian {
  version: string;
  median: number;
  runs: number;
}

/** Returns the medians of a lane by version, that of the newest run first. */
export function listMedians({ points }: Lane): VersionMedian[] {
  const values = new Map<string, number[]>();
  for (const { version, value } of points.toReversed())
    if (value !== undefined) values.set(version, [...(values.get(version) ?? []), value]);
  return [...values].map(([version, list]) => ({
    ...{ version, runs: list.length },
    // A version is in the list because of a value.
    median: findMedian(list) ?? Number.NaN,
  }));
}
