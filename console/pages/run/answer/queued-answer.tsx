import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useQuery } from '@tanstack/react-query';
import { describeError } from '../../../client/client.ts';
import { queryClient } from '../../../client/queries.ts';
import { AnswerSentence } from '../../../ui/answer.tsx';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { formatWaiting } from '../../../ui/resources/format-waiting.ts';
import { PredictedStart } from '../../../ui/resources/predicted-start.tsx';
import { PRIORITIES } from '../../../ui/resources/priorities.ts';
import { WaitingFacts } from '../../../ui/resources/waiting-facts.tsx';
import { useRight } from '../../../ui/use-right.ts';
import { findDropPriority } from '../../queue/drop-priority.ts';
import { queueQuery, usePriorityChange } from '../../queue/queries.ts';
import { runQuery } from '../queries.ts';
import styles from './run-answer.module.css';

/** Why the run waits and until when, and its priority. */
export function QueuedAnswer({ run }: { run: RunInformation }) {
  const { waiting } = run.metadata;
  const mayRun = useRight('run');
  return (
    <AnswerSentence
      icon="waiting"
      title={waiting ? `It waits at position ${waiting.place}.` : 'It waits for its start.'}
    >
      {waiting && (
        <p>
          {formatWaiting(waiting)}.
          {waiting.predicted_start && (
            <>
              {' '}
              Predicted start: <PredictedStart range={waiting.predicted_start} />.
            </>
          )}
        </p>
      )}
      {waiting && <WaitingFacts waiting={waiting} />}
      {waiting && (
        <details>
          <summary>How its position follows</summary>
          <p>{waiting.message}</p>
        </details>
      )}
      {mayRun && <QueueActions run={run} />}
    </AnswerSentence>
  );
}

/** Changes the priority, also to the one by which the run is the first. */
function QueueActions({ run }: { run: RunInformation }) {
  const change = usePriorityChange();
  const { data } = useQuery(queueQuery);
  const waiting = (data?.runs ?? []).filter(({ status_v2 }) => status_v2 === 'queued');
  const own = waiting.find(({ id }) => id === run.id);
  const [first] = waiting;
  const isFirst = first === undefined || first.id === run.id;
  const front = own && !isFirst ? findDropPriority(waiting, own, first) : null;
  const set = (priority: number) =>
    change.mutate(
      { run, priority },
      {
        onSettled: () =>
          queryClient.invalidateQueries(runQuery({ application: run.application_id, run: run.id })),
      },
    );
  return (
    <div className={styles.queue}>
      {front !== null && (
        <Button kind="primary" onPress={() => set(front)} isDisabled={change.isPending}>
          Run next
        </Button>
      )}
      <label>
        Priority
        <select
          value={change.isPending ? change.variables.priority : run.queuing_priority}
          onChange={({ target }) => set(Number(target.value))}
        >
          {PRIORITIES.map((priority) => (
            <option key={priority} value={priority}>
              {priority}
            </option>
          ))}
        </select>
      </label>
      {own && !isFirst && front === null && <span>The runs before it have the first priority.</span>}
      {change.isError && <Notice kind="error">{describeError(change.error)}</Notice>}
    </div>
  );
}
