import {
  EXPERIMENTS,
  type ExperimentType,
  hasFact,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import {
  countRuns,
  type ExperimentCounts,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ExperimentStatus } from '@switchyard/contract/states.ts';
import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import progressBar from '../../ui/progress.module.css';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { ExperimentActions } from './actions/experiment-actions.tsx';
import styles from './experiment-page.module.css';
import { ReportButton } from './report/report-button.tsx';

/** The fields that experiments of every type have. */
interface DescribedExperiment extends ExperimentCounts {
  id: string;
  name: string;
  description: string;
  status: ExperimentStatus;
  created_at: string;
}

interface ExperimentHeaderProps {
  type: ExperimentType;
  application: string;
  experiment: DescribedExperiment;
  actions?: ReactNode;
}

/** Name, type, status and progress of an experiment, with its actions. */
export function ExperimentHeader({ type, application, experiment, actions }: ExperimentHeaderProps) {
  usePageTitle(experiment.name, 'Experiments', application);
  return (
    <>
      <PageHeader
        title={<bdi>{experiment.name}</bdi>}
        description={
          <span className={styles.facts}>
            <StatusBadge status={experiment.status} />
            <span>{EXPERIMENTS[type].label}</span>
            <span>
              created <RelativeTime at={experiment.created_at} />
            </span>
            <RunCounts experiment={experiment} />
          </span>
        }
        actions={
          <>
            {actions}
            <ReportButton title={experiment.name} file={`${type}-${experiment.id}`} />
            <ExperimentActions type={type} application={application} experiment={experiment} />
          </>
        }
      />
      {experiment.description !== '' && <p className={styles.description}>{experiment.description}</p>}
      {!hasFact(type, 'isLive') && <Progress experiment={experiment} />}
    </>
  );
}

function RunCounts({ experiment }: { experiment: DescribedExperiment }) {
  const { status, number_of_completed_runs: ended, number_of_failed_runs: failed = 0 } = experiment;
  if (ended === undefined || status === 'draft') return null;
  return (
    <span>
      {formatNumber(ended)} of {formatNumber(countRuns(experiment))} runs ended
      {failed > 0 && <span className="bad">, {formatNumber(failed)} failed</span>}
    </span>
  );
}

/** Progress of an experiment whose runs the server creates, while they run. */
function Progress({ experiment }: { experiment: DescribedExperiment }) {
  const { status, number_of_completed_runs: ended } = experiment;
  if (status !== 'started' || ended === undefined) return null;
  return (
    <progress
      className={`${progressBar.bar} ${styles.progress}`}
      value={ended}
      max={Math.max(countRuns(experiment), 1)}
      aria-label="Ended runs"
    />
  );
}
