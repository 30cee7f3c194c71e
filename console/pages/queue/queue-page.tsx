import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { formatStartRange } from '@switchyard/contract/presentation/format-start-range.ts';
import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { useSuspenseQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Answer } from '../../ui/answer.tsx';
import { CancelRunsDialog } from '../../ui/destruction/cancel-runs-dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime, useNow } from '../../ui/relative-time.tsx';
import { useRight } from '../../ui/use-right.ts';
import { Lanes } from './lanes.tsx';
import { listLanes } from './list-lanes.ts';
import { cancelRun, queueQuery, queueWorkersQuery } from './queries.ts';
import styles from './queue-page.module.css';
import { WaitingTable } from './waiting-table.tsx';

/** The slots of the workers with the runs of all applications, and the runs that wait, in queue order. */
export function QueuePage() {
  usePageTitle('Queue');
  const [{ data }, workers] = useSuspenseQueries({ queries: [queueQuery, queueWorkersQuery] });
  const mayRun = useRight('run');
  const [canceled, setCanceled] = useState<ActiveRun>();
  const running = data.runs.filter((run) => run.status_v2 === 'running');
  const waiting = data.runs.filter((run) => run.status_v2 === 'queued');
  const lanes = listLanes(workers.data.items, running);
  const onCancel = mayRun ? setCanceled : undefined;
  return (
    <>
      <PageHeader title="Queue" />
      <QueueNumbers
        slots={lanes.reduce((sum, group) => sum + group.lanes.length, 0)}
        {...{ running, waiting }}
      />
      {workers.data.items
        .filter(({ status }) => status === 'unresponsive')
        .map(({ id, host, heartbeat_at }) => (
          <Notice key={id} kind="warning">
            <strong>
              Worker <bdi>{host || id}</bdi> was last heard <RelativeTime at={heartbeat_at} />.
            </strong>{' '}
            Its runs start again on another worker. <Link to="/workers">Workers</Link>
          </Notice>
        ))}
      <div className={styles.sections}>
        {data.runs.length === 0 ? (
          <EmptyState title="The queue is empty" command={CREATE_RUN_COMMAND}>
            <p>
              A new run appears here until it has ended. Create one on the page of its application, or so:
            </p>
          </EmptyState>
        ) : (
          <WaitingTable runs={waiting} onCancel={onCancel} />
        )}
        <Lanes groups={lanes} onCancel={onCancel} />
      </div>
      {data.next_page_token && <Notice kind="info">The first {data.runs.length} runs are shown.</Notice>}
      {canceled && (
        <CancelRunsDialog
          count={1}
          name={canceled.name || canceled.id}
          onConfirm={async () => {
            await cancelRun({ application_id: canceled.application_id, run_id: canceled.id });
            setCanceled(undefined);
          }}
          onClose={() => setCanceled(undefined)}
        />
      )}
    </>
  );
}

interface NumbersProps {
  slots: number;
  running: readonly ActiveRun[];
  waiting: readonly ActiveRun[];
}

/** What runs, what waits and how long, and when the next run starts. */
function QueueNumbers({ slots, running, waiting }: NumbersProps) {
  const now = useNow(TICK_MS);
  const oldest = Math.min(...waiting.map(({ created_at }) => Date.parse(created_at)));
  const next = waiting.find(({ waiting: reason }) => reason?.predicted_start);
  const start = next?.waiting?.predicted_start;
  return (
    <Answer
      numbers={[
        {
          label: 'Running',
          text: String(running.length),
          note: `of ${slots} ${slots === 1 ? 'slot' : 'slots'}`,
        },
        { label: 'Waiting', text: String(waiting.length) },
        ...(waiting.length > 0
          ? [
              {
                label: 'Oldest wait',
                text: formatDuration(TICK_MS * Math.round(Math.max(0, now - oldest) / TICK_MS)),
              },
            ]
          : []),
        ...(next && start
          ? [
              {
                label: 'Next start',
                ...describeStart(start, now),
              },
            ]
          : []),
      ]}
    />
  );
}

/** A start within a second is now. */
function describeStart(start: { earliest: string; latest: string }, now: number) {
  const left = Date.parse(start.latest) - now;
  if (left < TICK_MS) return { text: 'now' };
  return { text: formatStartRange(start, now) };
}

const TICK_MS = 1_000;
const CREATE_RUN_COMMAND = `curl "$SWITCHYARD_URL/v1/applications/my-app/runs" \\
  -H "Authorization: Bearer $SWITCHYARD_TOKEN" \\
  -H 'Content-Type: application/json' -d '{"input": {}}'`;
