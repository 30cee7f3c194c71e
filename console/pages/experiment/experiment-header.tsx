import {
  EXPERIMENTS,
  type ExperimentType,
  hasFact,
  hasField,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import {
  countRuns,
  type ExperimentCounts,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { type ExperimentStatus, isExperimentTerminal } from '@switchyard/contract/states.ts';
import type { ReactNode } from 'react';
import { LinkButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import progressBar from '../../ui/progress.module.css';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { useRight } from '../../ui/use-right.ts';
import { ExperimentActions } from './actions/experiment-actions.tsx';
import { SetDefault } from './actions/promotion.tsx';
import styles from './experiment-page.module.css';
import { ReportButton } from './report/report-button.tsx';
import type { Sides } from './sides.ts';
import type { Verdict } from './verdict/describe-verdict.ts';

/** The fields that experiments of every type have. */
export interface DescribedExperiment extends ExperimentCounts {
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
  verdict?: Verdict | null;
  sides?: Sides | undefined;
  actions?: ReactNode;
  menu?: ReactNode;
}

/** Name, type, status and progress of an experiment. The filled action is what follows from the verdict. */
export function ExperimentHeader(props: ExperimentHeaderProps) {
  const { type, application, experiment, verdict, sides, actions, menu } = props;
  usePageTitle(experiment.name, 'Experiments', application);
  const mayChange = useRight('experiment');
  const kind = verdict?.kind;
  const isOver = isExperimentTerminal(experiment.status);
  return (
    <>
      <PageHeader
        title={<bdi>{experiment.name}</bdi>}
        badge={<StatusBadge status={experiment.status} />}
        description={
          <span className={styles.facts}>
            <span>{EXPERIMENTS[type].label}</span>
            <RunCounts experiment={experiment} noun={hasField(type, 'copies') ? 'copies' : 'runs'} />
            <span>
              created <RelativeTime at={experiment.created_at} />
            </span>
            <span className={styles.id}>
              <code>{experiment.id}</code>
              <CopyButton text={experiment.id} label="Copy the id" />
            </span>
          </span>
        }
        actions={
          <>
            {actions}
            {sides && isOver && (kind === 'better' || kind === 'equivalent') && (
              <SetDefault
                {...{ application, sides }}
                name={verdict?.word === 'best' ? verdict.candidate : undefined}
                kind={kind === 'better' ? 'primary' : 'plain'}
              />
            )}
            {isOver && kind === 'open' && <StartAgain {...props} kind="primary" label="More runs" />}
          </>
        }
        quiet={
          <>
            <ReportButton title={experiment.name} file={`${type}-${experiment.id}`} />
            {isOver && kind !== 'open' && <StartAgain {...props} kind="quiet" label="Start again" />}
          </>
        }
        menu={
          mayChange && (
            <>
              {!isOver && <StartAgain {...props} kind="plain" label="Start again" />}
              {menu}
              <ExperimentActions {...{ type, application, experiment }} />
            </>
          )
        }
      />
      {experiment.description !== '' && <p className={styles.description}>{experiment.description}</p>}
      {!hasFact(type, 'isLive') && <Progress experiment={experiment} />}
    </>
  );
}

type StartAgainProps = ExperimentHeaderProps & { kind: 'primary' | 'quiet' | 'plain'; label: string };

/** Opens the form of a new experiment with the settings of this one. */
function StartAgain({ type, application, experiment, kind, label }: StartAgainProps) {
  if (!useRight('experiment')) return null;
  return (
    <LinkButton
      kind={kind}
      to="/apps/$application/new-experiment"
      params={{ application }}
      search={{ type, from: experiment.id }}
    >
      {label}
    </LinkButton>
  );
}

function RunCounts({ experiment, noun }: { experiment: DescribedExperiment; noun: string }) {
  const { status, number_of_completed_runs: ended, number_of_failed_runs: failed = 0 } = experiment;
  if (ended === undefined || status === 'draft') return null;
  const all = countRuns(experiment);
  if (all === 0) return null;
  return (
    <span>
      {ended < all || status === 'started'
        ? `${formatNumber(ended)} of ${formatNumber(all)} ${noun} ended`
        : `${formatNumber(all)} ${noun}`}
      {failed > 0 ? <span className="bad">, {formatNumber(failed)} failed</span> : ', none failed'}
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
