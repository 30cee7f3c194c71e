/** Finds the objective of a run among its series. Pure. */
import { isOfBytes } from '@switchyard/contract/runs/presentation/describe-solve.ts';
import type { RunSeries } from '@switchyard/contract/runs/run-series.ts';
import type { ChartSeries } from '../../../ui/series/chart-series.ts';

/** What a solver has found, by the names in its log. */
const OBJECTIVE_NAMES = ['objective', 'incumbent'];
const BYTES_PER_MEGABYTE = 1_000_000;

/** Returns the series of the objective, of the log or else of the statistics, which are mostly the same numbers. */
export function findObjective(series: readonly RunSeries[]): RunSeries | undefined {
  const ofLog = OBJECTIVE_NAMES.flatMap((name) => series.find((one) => isOfLog(one, name)) ?? []);
  return ofLog[0] ?? series.find(({ source }) => source === 'statistics');
}

/** Returns the bound that a solver has proven. */
export function findBound(series: readonly RunSeries[]): RunSeries | undefined {
  return series.find((one) => isOfLog(one, 'bound'));
}

/** Returns true for a series of the log with this name. */
export const isOfLog = ({ source, name }: RunSeries, wanted: string): boolean =>
  source === 'log' && name === wanted;

/** Returns true if x is the time since the start of the app: in statistics it is what the app says. */
export function isOverSeconds({ source, name }: RunSeries): boolean {
  return source !== 'statistics' || /\bseconds?\b/i.test(name);
}

/** Returns the series as a chart draws it. */
export function toChartSeries(series: RunSeries): ChartSeries {
  const { name, source, points } = series;
  const factor = isOfBytes(series) ? 1 / BYTES_PER_MEGABYTE : 1;
  return {
    name,
    points: points.map(([x = 0, y = 0]) => ({ x, y: y * factor })),
    ...(isOfLog(series, 'gap') && { isRatio: true }),
    ...(isOverSeconds(series) && { isOverSeconds: true }),
    ...(source === 'resources' && { isSampled: true }),
  };
}
