/** Groups the series of a run into charts. Pure. */
import type { RunSeries } from '@switchyard/contract/runs/run-series.ts';
import type { ChartSeries } from '../../../ui/series/chart-series.ts';

/** More charts make a page that nobody reads; the API has all series. */
const CHARTS_MAX = 16;
/** What a solver has found, by the names in its log. */
const OBJECTIVE_NAMES = ['objective', 'incumbent'];
const RESOURCE_TITLES: Readonly<Record<string, string>> = {
  cpu: 'CPU cores',
  memory: 'Memory, MB',
  written: 'Written to disk, MB',
};
const BYTES_PER_MEGABYTE = 1_000_000;

/** A chart with its title. */
export interface ChartGroup {
  title: string;
  series: ChartSeries[];
}

/** Returns the series of the objective, of the log or else of the statistics, which are mostly the same numbers. */
export function findObjective(series: readonly RunSeries[]): RunSeries | undefined {
  const ofLog = OBJECTIVE_NAMES.flatMap((name) => series.find((one) => isOfLog(one, name)) ?? []);
  return ofLog[0] ?? series.find(({ source }) => source === 'statistics');
}

/** Returns the bound that a solver has proven. */
export function findBound(series: readonly RunSeries[]): RunSeries | undefined {
  return series.find((one) => isOfLog(one, 'bound'));
}

const isOfLog = ({ source, name }: RunSeries, wanted: string): boolean => source === 'log' && name === wanted;

/** Returns true if x is the time since the start of the app: in statistics it is what the app says. */
export function isOverSeconds({ source, name }: RunSeries): boolean {
  return source !== 'statistics' || /\bseconds?\b/i.test(name);
}

/**
 * Returns the chart of the objective with its bound first, then one chart for each other series, and those of the resources.
 * The gap follows from both, so it has a chart only without the bound.
 */
export function groupCharts(series: readonly RunSeries[]): ChartGroup[] {
  const [objective, bound] = [findObjective(series), findBound(series)];
  const first = [objective, objective?.source === 'log' && bound].filter(
    (one) => one !== undefined && one !== false,
  );
  const repeated =
    objective?.source === 'log' ? series.find(({ source }) => source === 'statistics') : undefined;
  const others = series.filter(
    (one) => !first.includes(one) && one !== repeated && !(bound && isOfLog(one, 'gap')),
  );
  const byResource = Map.groupBy(others, ({ source }) => source === 'resources');
  return [
    ...(first.length > 0 ? [{ title: 'Objective', series: first.map(toChartSeries) }] : []),
    ...[...(byResource.get(false) ?? []), ...(byResource.get(true) ?? [])].map((one) => ({
      title: (one.source === 'resources' && RESOURCE_TITLES[one.name]) || one.name,
      series: [toChartSeries(one)],
    })),
  ].slice(0, CHARTS_MAX);
}

/** Returns the series as a chart draws it. */
export function toChartSeries(series: RunSeries): ChartSeries {
  const { name, source, points } = series;
  const isBytes = source === 'resources' && name !== 'cpu';
  const factor = isBytes ? 1 / BYTES_PER_MEGABYTE : 1;
  return {
    name,
    points: points.map(([x = 0, y = 0]) => ({ x, y: y * factor })),
    ...(isOfLog(series, 'gap') && { isRatio: true }),
    ...(isOverSeconds(series) && { isOverSeconds: true }),
    ...(source === 'resources' && { isSampled: true }),
  };
}
