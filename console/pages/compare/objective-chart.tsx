import { useQueries } from '@tanstack/react-query';
import { SeriesChart } from '../../ui/series/series-chart.tsx';
import { seriesQuery } from '../run/queries.ts';
import { groupCharts } from '../run/summary/group-charts.ts';
import styles from './compare-page.module.css';
import type { ComparedRun } from './compare-runs.ts';
import { nameRuns } from './name-runs.ts';

/** The objectives of the runs over time in one chart, from their logs or their statistics. */
export function ObjectiveChart({ application, runs }: { application: string; runs: readonly ComparedRun[] }) {
  const results = useQueries({ queries: runs.map(({ id }) => seriesQuery({ application, run: id })) });
  const names = nameRuns(runs);
  const series = results.flatMap(({ data }, index) => {
    // The first chart of the page of a run begins with its objective.
    const [objective] = groupCharts((data?.series ?? []).filter(({ source }) => source !== 'resources'));
    const [first] = objective?.series ?? [];
    return first ? [{ ...first, name: names[index] ?? '' }] : [];
  });
  // A chart that grows by one curve after another would be drawn again each time.
  if (series.length === 0 || results.some(({ isPending }) => isPending)) return null;
  return (
    <div className={styles.group}>
      <SeriesChart title="Objective over time" series={series} />
    </div>
  );
}
