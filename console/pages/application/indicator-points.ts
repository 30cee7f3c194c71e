/** Turns the latest runs of an application into the points of a chart. */
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';

type ChartRun = Pick<
  Run,
  'id' | 'created_at' | 'statistics' | 'application_instance_id' | 'application_version_id'
>;

/** One run in the chart. */
export interface IndicatorPoint {
  run: string;
  /** Creation time in milliseconds since the epoch. */
  at: number;
  value: number;
  version: string;
  /** true if the run before it, on the same instance, had another version. */
  isVersionChange: boolean;
}

/** The points of one instance, oldest first. */
export interface InstanceSeries {
  instance: string;
  points: IndicatorPoint[];
}

/** Returns the names of the indicators that have a number in any of the runs. */
export function listNumericIndicators(runs: readonly Pick<Run, 'statistics'>[]): string[] {
  const names = runs.flatMap(({ statistics }) =>
    statistics.indicators.filter(({ value }) => typeof value === 'number').map(({ name }) => name),
  );
  return [...new Set(names)];
}

/** Returns one series for each instance with the indicator. The runs are newest first. */
export function buildInstanceSeries(runs: readonly ChartRun[], indicator: string): InstanceSeries[] {
  const series = new Map<string, IndicatorPoint[]>();
  for (const run of runs.toReversed()) {
    const value = run.statistics.indicators.find(({ name }) => name === indicator)?.value;
    if (typeof value !== 'number') continue;
    const points = series.get(run.application_instance_id) ?? [];
    const version = run.application_version_id;
    const before = points.at(-1);
    points.push({
      run: run.id,
      at: Date.parse(run.created_at),
      value,
      version,
      isVersionChange: before !== undefined && before.version !== version,
    });
    series.set(run.application_instance_id, points);
  }
  return [...series].map(([instance, points]) => ({ instance, points }));
}
