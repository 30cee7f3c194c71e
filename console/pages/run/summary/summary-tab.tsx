import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useMemo } from 'react';
import { Assets } from '../../../ui/assets/asset-list.tsx';
import { type AssetFacts, listSummaryAssets } from '../../../ui/assets/asset-query.ts';
import { Notice } from '../../../ui/notice.tsx';
import type { RunAddress } from '../queries.ts';
import { RunFacts } from '../run-facts.tsx';
import { RunTags } from '../run-tags.tsx';
import { Timeline } from '../timeline.tsx';
import { ChildRunList } from './child-run-list.tsx';
import { IndicatorTable } from './indicator-table.tsx';
import { LogEnd } from './log-end.tsx';
import { LogExcerpt } from './log-excerpt.tsx';
import { OptionList } from './option-list.tsx';
import { ReplayList } from './replay-list.tsx';
import { RunCharts } from './run-charts.tsx';
import { SolutionSection } from './solution-section.tsx';
import styles from './summary-tab.module.css';

export interface SummaryTabProps {
  address: RunAddress;
  run: RunInformation;
  assets: readonly AssetFacts[];
  /** Id of the chosen baseline; undefined for the default. */
  baseline: string | undefined;
  onChooseBaseline: (id: string | undefined) => void;
}

/** The results of a run: its error, solution, objective, indicators, options, log, limits and replays. */
export function SummaryTab({ address, run, assets, baseline, onChooseBaseline }: SummaryTabProps) {
  const { metadata } = run;
  const summaryAssets = useMemo(() => listSummaryAssets(assets), [assets]);
  const reportError = run.statistics.error || run.metrics?.error;
  return (
    <div className={styles.split}>
      <div className={styles.summary}>
        <LogEnd address={address} run={run} />
        {reportError && <Notice kind="warning">The statistics are not valid: {reportError}</Notice>}
        {metadata.assets_error !== undefined && <Notice kind="warning">{metadata.assets_error}</Notice>}
        <SolutionSection run={run} />
        {summaryAssets.length > 0 && <Assets application={address.application} assets={summaryAssets} />}
        <div className={styles.columns}>
          <RunCharts address={address} source="progress" />
          <IndicatorTable run={run} chosenBaseline={baseline} onChooseBaseline={onChooseBaseline} />
        </div>
        <ChildRunList address={address} run={run} />
        <LogExcerpt address={address} run={run} />
        <ReplayList address={address} status={run.status_v2} />
      </div>
      <aside className={styles.aside} aria-label="Details">
        <Timeline run={run} />
        <RunFacts run={run} />
        <OptionList options={metadata.options.options_summary} />
        <RunTags address={address} />
      </aside>
    </div>
  );
}
