import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { useMemo } from 'react';
import aside from '../../../ui/aside.module.css';
import { Assets } from '../../../ui/assets/asset-list.tsx';
import { type AssetFacts, listSummaryAssets } from '../../../ui/assets/asset-query.ts';
import { Notice } from '../../../ui/notice.tsx';
import { LastChangesTable } from '../live/last-changes-table.tsx';
import { LiveLog } from '../live/live-log.tsx';
import { ResourceLines } from '../live/resource-lines.tsx';
import { StopNote } from '../live/stop-note.tsx';
import type { RunAddress } from '../queries.ts';
import { RunFacts } from '../run-facts.tsx';
import { RunTags } from '../run-tags.tsx';
import { Timeline } from '../timeline.tsx';
import { ChildRunList } from './child-run-list.tsx';
import { FailureSteps } from './failure-steps.tsx';
import { IndicatorTable } from './indicator-table.tsx';
import { LogEnd } from './log-end.tsx';
import { OptionList } from './option-list.tsx';
import { ProgressChart } from './progress-chart.tsx';
import { ReplayList } from './replay-list.tsx';
import { RunCharts } from './run-charts.tsx';
import { SolutionSection } from './solution-section.tsx';
import { SolveList } from './solve-list.tsx';
import styles from './summary-tab.module.css';

export interface SummaryTabProps {
  address: RunAddress;
  run: RunInformation;
  assets: readonly AssetFacts[];
  /** Id of the chosen baseline; undefined for the default. */
  baseline: string | undefined;
  onChooseBaseline: (id: string | undefined) => void;
}

/** The evidence for the answer of a run, and its details. */
export function SummaryTab(props: SummaryTabProps) {
  const { address, run, assets, baseline } = props;
  const { metadata } = run;
  const summaryAssets = useMemo(() => listSummaryAssets(assets), [assets]);
  const reportError = run.statistics.error || run.metrics?.error;
  const isRunning = run.status_v2 === 'running' && run.run_type.type === 'standard';
  const isFailed = run.status_v2 === 'failed';
  return (
    <div className={styles.split}>
      {isRunning && (
        <div className={styles.stop}>
          <StopNote run={run} />
        </div>
      )}
      <div className={styles.summary}>
        {isFailed && <LogEnd address={address} run={run} />}
        <FailureSteps run={run} />
        {reportError && <Notice kind="warning">The statistics are not valid: {reportError}</Notice>}
        {metadata.assets_error !== undefined && <Notice kind="warning">{metadata.assets_error}</Notice>}
        <SolutionSection run={run} />
        {summaryAssets.length > 0 && <Assets application={address.application} assets={summaryAssets} />}
        {isTerminal(run.status_v2) ? (
          <div className={styles.columns}>
            <ProgressChart run={run} chosenBaseline={baseline} />
            <Indicators {...props} />
          </div>
        ) : (
          <>
            <ProgressChart run={run} chosenBaseline={baseline} />
            <div className={styles.columns}>
              <div className={styles.beside}>
                <LastChangesTable run={run} />
                <RunCharts address={address} source="others" />
              </div>
              {isRunning && <LiveLog address={address} run={run} />}
            </div>
          </>
        )}
        <SolveList run={run} />
        {!isFailed && <LogEnd address={address} run={run} />}
        {run.status_v2 === 'queued' && (
          <p className="soft">Its curve, its log and its indicators appear here when it has started.</p>
        )}
        {isTerminal(run.status_v2) && <RunCharts address={address} source="others" />}
        <ChildRunList address={address} run={run} />
        <ReplayList address={address} status={run.status_v2} />
      </div>
      <aside className={`${aside.aside} ${styles.aside}`} aria-label="Details">
        <Timeline run={run} />
        {isRunning && <ResourceLines run={run} />}
        <RunFacts run={run} />
        <OptionList options={metadata.options.options_summary} />
        <RunTags address={address} />
      </aside>
    </div>
  );
}

/** Nothing for a failed run, which has said why. */
function Indicators({ run, baseline, onChooseBaseline }: SummaryTabProps) {
  if (run.status_v2 !== 'succeeded' && run.statistics.indicators.length === 0) return null;
  return <IndicatorTable run={run} chosenBaseline={baseline} onChooseBaseline={onChooseBaseline} />;
}
