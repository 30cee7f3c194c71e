import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { useSuspenseQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { CancelRunsDialog } from '../../ui/destruction/cancel-runs-dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { useRight } from '../../ui/use-right.ts';
import { listLanes } from './list-lanes.ts';
import { cancelRun, queueQuery, queueWorkersQuery } from './queries.ts';
import styles from './queue-page.module.css';
import { SlotTable } from './slot-table.tsx';
import { WaitingTable } from './waiting-table.tsx';

/** The slots of the workers with the runs of all applications, and the runs that wait, in queue order. */
export function QueuePage() {
  usePageTitle('Queue');
  const [{ data }, workers] = useSuspenseQueries({ queries: [queueQuery, queueWorkersQuery] });
  const mayRun = useRight('run');
  const [canceled, setCanceled] = useState<ActiveRun>();
  const running = data.runs.filter((run) => run.status_v2 === 'running');
  const waiting = data.runs.filter((run) => run.status_v2 === 'queued');
  const onCancel = mayRun ? setCanceled : undefined;
  return (
    <>
      <PageHeader title="Queue" description={`${running.length} running, ${waiting.length} waiting`} />
      <div className={styles.sections}>
        <SlotTable groups={listLanes(workers.data.items, running)} onCancel={onCancel} />
        {data.runs.length === 0 ? (
          <EmptyState title="The queue is empty" command={CREATE_RUN_COMMAND}>
            <p>
              A new run appears here until it has ended. Create one on the page of its application, or so:
            </p>
          </EmptyState>
        ) : (
          <WaitingTable runs={waiting} onCancel={onCancel} />
        )}
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

const CREATE_RUN_COMMAND = `curl "$SWITCHYARD_URL/v1/applications/my-app/runs" \\
  -H "Authorization: Bearer $SWITCHYARD_TOKEN" \\
  -H 'Content-Type: application/json' -d '{"input": {}}'`;
