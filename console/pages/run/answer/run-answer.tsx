import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { Link } from '@tanstack/react-router';
import { Answer, AnswerSentence } from '../../../ui/answer.tsx';
import { LimitRail } from '../live/limit-rail.tsx';
import type { RunAddress } from '../queries.ts';
import { FailureAnswer } from './failure-answer.tsx';
import { QueuedAnswer } from './queued-answer.tsx';
import styles from './run-answer.module.css';
import { useRunNumbers } from './use-run-numbers.tsx';

interface AnswerProps {
  address: RunAddress;
  run: RunInformation;
  /** Id of the chosen baseline; undefined for the default. */
  chosenBaseline: string | undefined;
}

/** What the run found and what it took. One that failed or waits says why. */
export function RunAnswer({ address, run, chosenBaseline }: AnswerProps) {
  const status = run.status_v2;
  if (status === 'queued') return <QueuedAnswer run={run} />;
  // An app that is stopped can have printed its best output.
  const hasNumbers = !isTerminal(status) || status === 'succeeded' || run.output_size > 0;
  return (
    <div className={styles.answers}>
      {status === 'failed' && <FailureAnswer address={address} run={run} />}
      {status === 'canceled' && !hasNumbers && (
        <AnswerSentence icon="stopped" title={run.error || 'The run was canceled.'}>
          <Link to="/apps/$application/runs/$run" params={address} search={{ tab: 'log' }}>
            Open the log
          </Link>
        </AnswerSentence>
      )}
      {hasNumbers && <RunNumbers run={run} chosenBaseline={chosenBaseline} />}
      {status === 'running' && run.run_type.type === 'standard' && <LimitRail run={run} />}
    </div>
  );
}

function RunNumbers({ run, chosenBaseline }: Omit<AnswerProps, 'address'>) {
  return <Answer numbers={useRunNumbers(run, chosenBaseline)} />;
}
