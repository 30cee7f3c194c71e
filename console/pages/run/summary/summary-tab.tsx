import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { parseSeries } from '@switchyard/contract/runs/statistics-series.ts';
import { useMemo } from 'react';
import { Notice } from '../../../ui/notice.tsx';
import { SeriesChart } from '../../../ui/series/series-chart.tsx';
import type { RunAddress } from '../queries.ts';
import { ExecutionFacts } from './execution-facts.tsx';
import { IndicatorTable } from './indicator-table.tsx';
import { OptionTable } from './option-table.tsx';
import { ReplayList } from './replay-list.tsx';
import { RunError } from './run-error.tsx';
import styles from './summary-tab.module.css';

/** The results of a run: its error, objective, indicators, options, limits and replays. */
export function SummaryTab({ address, run }: { address: RunAddress; run: RunInformation }) {
  const { metadata } = run;
  const series = useMemo(() => parseSeries(metadata.statistics), [metadata.statistics]);
  const reportError = run.statistics.error || run.metrics?.error;
  return (
    <div className={styles.summary}>
      <RunError address={address} run={run} />
      {reportError && <Notice kind="warning">The statistics are not valid: {reportError}</Notice>}
      {metadata.assets_error !== undefined && <Notice kind="warning">{metadata.assets_error}</Notice>}
      {series.length > 0 && <SeriesChart title="Objective over time" series={series} />}
      <div className={styles.columns}>
        <IndicatorTable run={run} />
        <OptionTable options={metadata.options.options_summary} />
      </div>
      <ExecutionFacts run={run} />
      <ReplayList address={address} status={run.status_v2} />
    </div>
  );
}
