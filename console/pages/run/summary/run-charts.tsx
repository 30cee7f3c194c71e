import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import type { SolverPhase } from '@switchyard/contract/runs/run-series.ts';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { SeriesChart } from '../../../ui/series/series-chart.tsx';
import { type RunAddress, seriesQuery } from '../queries.ts';
import { groupCharts } from './group-charts.ts';
import styles from './run-charts.module.css';

const SECOND_MS = 1_000;
/** A log with many solves has many phases; the last ones say where the solver is. */
const PHASES_MAX = 8;

/** The charts of the progress of a run or of its resources, which grow while it is active. */
export function RunCharts({ address, source }: { address: RunAddress; source: 'progress' | 'resources' }) {
  const { data } = useQuery(seriesQuery(address));
  const [first, ...others] = useMemo(() => {
    const isResource = source === 'resources';
    const own = data?.series.filter((one) => (one.source === 'resources') === isResource);
    return groupCharts(own ?? []);
  }, [data, source]);
  if (!data || !first) return source === 'resources' && <p>Nothing was measured.</p>;
  return (
    <div className={styles.charts}>
      <div className={styles.wide}>
        <SeriesChart title={first.title} series={first.series} />
        <PhaseList phases={data.phases} />
      </div>
      {others.map(({ title, series }) => (
        <div key={title} className={styles.small}>
          <SeriesChart title={title} series={series} />
        </div>
      ))}
    </div>
  );
}

function PhaseList({ phases }: { phases: readonly SolverPhase[] }) {
  if (phases.length === 0) return null;
  return (
    <ol className={styles.phases} aria-label="Phases of the solver">
      {phases.slice(-PHASES_MAX).map(({ solver, phase, x }, index) => (
        <li key={index}>
          {solver}: {phase} <span className={styles.time}>from {formatDuration(x * SECOND_MS)}</span>
        </li>
      ))}
    </ol>
  );
}
