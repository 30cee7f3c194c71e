import { useQueries } from '@tanstack/react-query';
import { SeriesChart } from '../../ui/series/series-chart.tsx';
import { seriesQuery } from '../run/queries.ts';
import { groupCharts } from '../run/summary/group-charts.ts';
import styles from './compare-page.module.css';
import { type ComparedRun, nameRun } from './compare-runs.ts';

/** The baseline. */
const CONTROL = { role: 'control' } as const;

interface ObjectiveChartProps {
  application: string;
  runs: readonly ComparedRun[];
  /** Name of the objective. */
  label: string;
}

/** The objectives of the runs over time in one chart, from their logs or their statistics. */
export function ObjectiveChart({ application, runs, label }: ObjectiveChartProps) {
  const results = useQueries({ queries: runs.map(({ id }) => seriesQuery({ application, run: id })) });
  const series = results.flatMap(({ data }, index) => {
    // The first chart of the page of a run begins with its objective.
    const [objective] = groupCharts((data?.series ?? []).filter(({ source }) => source !== 'resources'));
    const [first] = objective?.series ?? [];
    return first ? [{ ...first, name: nameRun(index), ...(index === 0 ? CONTROL : { hue: index }) }] : [];
  });
  // A chart that grows by one curve after another would be drawn again each time.
  if (series.length === 0 || results.some(({ isPending }) => isPending)) return null;
  return (
    <div className={styles.group}>
      <SeriesChart title={`${label} over run time`} series={series} />
    </div>
  );
}
