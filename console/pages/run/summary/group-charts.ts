/** Groups the series of a run into charts. Pure. */
import { listMainSeries } from '@switchyard/contract/runs/presentation/describe-solve.ts';
import type { RunSeries } from '@switchyard/contract/runs/run-series.ts';
import type { ChartSeries } from '../../../ui/series/chart-series.ts';
import { findBound, findObjective, isOfLog, toChartSeries } from '../progress/objective-series.ts';

/** More charts make a page that nobody reads; the API has all series. */
const CHARTS_MAX = 16;
const RESOURCE_TITLES: Readonly<Record<string, string>> = {
  cpu: 'CPU cores',
  memory: 'Memory, MB',
  written: 'Written to disk, MB',
};

/** A chart with its title. */
export interface ChartGroup {
  title: string;
  series: ChartSeries[];
}

/**
 * Returns the chart of the objective with its bound first, then one chart for each other series, and those of the resources.
 * The gap follows from both, so it has a chart only without the bound.
 */
export function groupCharts(all: readonly RunSeries[]): ChartGroup[] {
  const series = listMainSeries(all);
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
