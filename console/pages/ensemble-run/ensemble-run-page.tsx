import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import type { EnsembleRun } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { explainWinner } from '@switchyard/contract/runs/presentation/explain-winner.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { isActiveStatus } from '../../client/run-refetch.ts';
import { AnswerSentence } from '../../ui/answer.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RunLink } from '../../ui/run-link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { ChildRuns } from './child-runs.tsx';
import { Decisions } from './decisions.tsx';
import styles from './ensemble-run-page.module.css';
import { GainSection } from './gain-section.tsx';
import { ensembleRunQuery } from './queries.ts';

const route = getRouteApi('/signed-in/apps/$application/ensembles/$ensemble/runs/$run');

/** One run of an ensemble: its child runs as they end, and why the rules selected the best. */
export function EnsembleRunPage() {
  const { application, ensemble, run: id } = route.useParams();
  const { data: run } = useSuspenseQuery(ensembleRunQuery(application, id));
  usePageTitle(id, ensemble, application);
  return (
    <>
      <PageHeader
        title="Ensemble run"
        badge={<StatusBadge status={run.status_v2} />}
        description={
          <>
            <code>{id}</code> <CopyButton text={id} label="Copy run id" />
          </>
        }
        actions={
          <>
            <Link
              to="/apps/$application/ensembles/$ensemble"
              params={{ application, ensemble }}
              className={styles.link}
            >
              Definition
            </Link>
            <RunLink application={application} run={id} className={styles.link}>
              Input, output and log
            </RunLink>
          </>
        }
      />
      <div className="sections">
        <Outcome run={run} />
        <ChildRuns application={application} run={run} />
        {run.rules_result && <Decisions application={application} result={run.rules_result} />}
        {run.rules_result?.gain && (
          <GainSection gain={run.rules_result.gain} usage={run.rules_result.usage} />
        )}
      </div>
    </>
  );
}

/** The selected run with the reason; while child runs are active, how many have ended. */
function Outcome({ run }: { run: EnsembleRun }) {
  const best = run.rules_result?.best_run_id ?? null;
  const child = run.child_runs.find(({ id }) => id === best);
  const ended = run.child_runs.filter(({ status_v2 }) => !isActiveStatus(status_v2)).length;
  if (best !== null)
    return (
      <AnswerSentence
        icon="good"
        tone="good"
        title={
          <>
            <RunLink application={run.application_id} run={best}>
              {child ? `${child.run_group_id}, repetition ${child.repetition + 1}` : best}
            </RunLink>{' '}
            won. {run.rules_result && explainWinner(run.rules_result)}
          </>
        }
      >
        {run.error}
      </AnswerSentence>
    );
  if (!isActiveStatus(run.status_v2)) {
    const isFailed = run.status_v2 === 'failed';
    return (
      <AnswerSentence
        icon={isFailed ? 'bad' : 'stopped'}
        tone={isFailed ? 'bad' : 'soft'}
        title={escapeInvisible(run.error) || 'No run was selected.'}
      />
    );
  }
  return (
    <AnswerSentence icon="waiting" title={`${ended} of ${run.requested_runs} child runs have ended`}>
      <progress value={ended} max={run.requested_runs} aria-label="Ended child runs" />
    </AnswerSentence>
  );
}
