import { hasCurve } from '@switchyard/contract/runs/presentation/describe-progress.ts';
import { listMainSeries } from '@switchyard/contract/runs/presentation/describe-solve.ts';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { ChartSeries } from '../../../ui/series/chart-series.ts';
import { SeriesChart } from '../../../ui/series/series-chart.tsx';
import { findObjective } from '../progress/objective-series.ts';
import { type RunAddress, seriesQuery } from '../queries.ts';
import { groupCharts } from './group-charts.ts';
import { PointNumbers } from './point-numbers.tsx';
import styles from './run-charts.module.css';

/** The charts of the resources of a run, or of all its series but the objective. They grow while it is active. */
export function RunCharts({ address, source }: { address: RunAddress; source: 'others' | 'resources' }) {
  const { data } = useQuery(seriesQuery(address));
  const groups = useMemo(() => {
    const isResource = source === 'resources';
    const own = listMainSeries(data?.series ?? []).filter(
      (one) => (one.source === 'resources') === isResource,
    );
    const hasObjective = !isResource && findObjective(own) !== undefined;
    return groupCharts(own).slice(hasObjective ? 1 : 0);
  }, [data, source]);
  if (groups.length === 0) return source === 'resources' && data && <p>Nothing was measured.</p>;
  return (
    <div className={styles.charts}>
      {groups.map(({ title, series }) =>
        series.some(isTelling) ? (
          <SeriesChart key={title} title={title} series={series.map(labelByValue)} isSmall />
        ) : (
          series.map((one) => <PointNumbers key={title} title={title} series={one} />)
        ),
      )}
    </div>
  );
}

const isTelling = ({ points }: ChartSeries): boolean => hasCurve(points.map(({ x, y }) => [x, y]));

/** The title names the series already. */
const labelByValue = (series: ChartSeries): ChartSeries => ({ ...series, label: (value) => value });
