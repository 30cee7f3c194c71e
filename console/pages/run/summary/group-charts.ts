/** Groups the series of a run into charts. Pure. */
import type { RunSeries } from '@switchyard/contract/runs/run-series.ts';
import type { ChartSeries } from '../../../ui/series/chart-series.ts';

/** More charts make a page that nobody reads; the API has all series. */
const CHARTS_MAX = 16;
/** The progress of a solver, in one chart and in this order. */
const PROGRESS_NAMES = ['objective', 'incumbent', 'bound', 'gap'];
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

/**
 * Returns the chart of the objective first, then one chart for each other series of the log, then those of the resources. The
 * series of the statistics are in the first chart if the log has no objective, because they are mostly the same numbers.
 */
export function groupCharts(series: readonly RunSeries[]): ChartGroup[] {
  const fromLog = series.filter(({ source }) => source === 'log');
  const progress = PROGRESS_NAMES.flatMap((name) => fromLog.filter((one) => one.name === name));
  const statistics = series.filter(({ source }) => source === 'statistics');
  const hasProgress = progress.length > 0;
  const groups = [
    createGroup('Objective over time', hasProgress ? progress : statistics),
    createGroup('Statistics over time', hasProgress ? statistics : []),
    ...fromLog.filter((one) => !progress.includes(one)).map((one) => createGroup(one.name, [one])),
    ...series
      .filter(({ source }) => source === 'resources')
      .map((one) => createGroup(RESOURCE_TITLES[one.name] ?? one.name, [one])),
  ];
  return groups.filter((group) => group.series.length > 0).slice(0, CHARTS_MAX);
}

function createGroup(title: string, series: readonly RunSeries[]): ChartGroup {
  return { title, series: series.map(toChartSeries) };
}

function toChartSeries({ name, source, points }: RunSeries): ChartSeries {
  const isBytes = source === 'resources' && name !== 'cpu';
  const factor = isBytes ? 1 / BYTES_PER_MEGABYTE : 1;
  return {
    name,
    points: points.map(([x = 0, y = 0]) => ({ x, y: y * factor })),
    ...(source === 'log' && name === 'gap' && { isRatio: true }),
    ...(source !== 'statistics' && { isOverSeconds: true }),
  };
}
