import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { type DragEvent, useId, useState } from 'react';
import { describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { formatWaiting } from '../../ui/resources/format-waiting.ts';
import { formatStartAbsence, PredictedStart } from '../../ui/resources/predicted-start.tsx';
import { PRIORITIES } from '../../ui/resources/priorities.ts';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { DROP_REFUSAL, findDropPriority } from './drop-priority.ts';
import type { OnCancel } from './lanes.tsx';
import { usePriorityChange } from './queries.ts';
import styles from './queue-page.module.css';
import { RunName } from './run-name.tsx';

/**
 * The runs that wait, in queue order, with the reason and the priority. The person changes it by the field, or drags the run to
 * another place.
 */
export function WaitingTable({ runs, onCancel }: { runs: readonly ActiveRun[]; onCancel: OnCancel }) {
  const heading = useId();
  const change = usePriorityChange();
  const [dragged, setDragged] = useState<ActiveRun | null>(null);
  const [isRefused, setIsRefused] = useState(false);
  const findPriority = (run: ActiveRun): number | null => dragged && findDropPriority(runs, dragged, run);
  const startDrag = (run: ActiveRun | null): void => {
    setDragged(run);
    if (run) setIsRefused(false);
  };
  const drop = (run: ActiveRun): void => {
    const priority = findPriority(run);
    setIsRefused(priority === null);
    if (dragged && priority !== null) change.mutate({ run: dragged, priority });
  };
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading}>Waiting</h2>
      {isRefused && <Notice kind="error">{DROP_REFUSAL}</Notice>}
      {runs.length === 0 ? (
        <p>No runs are waiting.</p>
      ) : (
        <TableRegion label="List of waiting runs">
          <table className={table.table} aria-labelledby={heading}>
            <thead>
              <tr>
                <th className={table.number}>#</th>
                <th>Run</th>
                <th>Why it waits</th>
                <th>Starts</th>
                <th>Priority</th>
                {onCancel && <td />}
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <WaitingRow
                  key={run.id}
                  {...{ run, onCancel, change }}
                  onDragStart={() => startDrag(run)}
                  onDragEnd={() => startDrag(null)}
                  target={
                    dragged === null || dragged.id === run.id ? null : { isFree: findPriority(run) !== null }
                  }
                  onDrop={() => drop(run)}
                />
              ))}
            </tbody>
          </table>
        </TableRegion>
      )}
    </section>
  );
}

interface RowProps {
  run: ActiveRun;
  onCancel: OnCancel;
  change: ReturnType<typeof usePriorityChange>;
  onDragStart(): void;
  onDragEnd(): void;
  /** While another run is dragged: whether it can be dropped here. */
  target: { isFree: boolean } | null;
  onDrop(): void;
}

function WaitingRow({ run, onCancel, change, onDragStart, onDragEnd, target, onDrop }: RowProps) {
  const [isOver, setIsOver] = useState(false);
  const drop = (event: DragEvent): void => {
    setIsOver(false);
    event.preventDefault();
    if (target) onDrop();
  };
  return (
    <tr
      className={isOver && target?.isFree ? styles.target : ''}
      onDragOver={(event) => {
        setIsOver(true);
        // The browser refuses a drop without this. A drop that has no priority says why.
        if (target) event.preventDefault();
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      <td className={table.number}>
        {onCancel && <DragHandle onStart={onDragStart} onEnd={onDragEnd} />}
        {run.waiting?.place}
      </td>
      <td>
        <RunName run={run}>
          <RelativeTime at={run.created_at} />
        </RunName>
      </td>
      <td className={styles.reason} title={run.waiting?.message}>
        {run.waiting && formatWaiting(run.waiting)}
      </td>
      <td className={styles.start}>
        {run.waiting?.predicted_start && <PredictedStart range={run.waiting.predicted_start} />}
        {run.waiting?.predicted_start_absence && formatStartAbsence(run.waiting.predicted_start_absence)}
      </td>
      <td>{onCancel ? <PriorityField run={run} change={change} /> : run.queuing_priority}</td>
      {onCancel && (
        <td className={styles.action}>
          <Button kind="quiet" onPress={() => onCancel(run)} aria-label={`Cancel ${run.name || run.id}`}>
            Cancel
          </Button>
        </td>
      )}
    </tr>
  );
}

/** Drags its row. Without a pointer, the field of the priority does the same. */
function DragHandle({ onStart, onEnd }: { onStart: () => void; onEnd: () => void }) {
  const start = (event: DragEvent): void => {
    const row = event.currentTarget.closest('tr');
    if (row) event.dataTransfer.setDragImage(row, 0, 0);
    event.dataTransfer.effectAllowed = 'move';
    // Firefox starts no drag without data.
    event.dataTransfer.setData('text/plain', '');
    onStart();
  };
  return (
    <span
      className={styles.handle}
      aria-hidden="true"
      title="Drag to change the priority"
      draggable
      onDragStart={start}
      onDragEnd={onEnd}
    >
      ⠿
    </span>
  );
}

/** Changes the priority of a run at once, also by the arrow keys. */
function PriorityField({ run, change }: Pick<RowProps, 'run' | 'change'>) {
  const isOwn = change.variables?.run.id === run.id;
  return (
    <>
      <select
        aria-label={`Priority of ${run.name || run.id}`}
        value={isOwn && change.isPending ? change.variables?.priority : run.queuing_priority}
        onChange={(event) => change.mutate({ run, priority: Number(event.target.value) })}
      >
        {PRIORITIES.map((priority) => (
          <option key={priority} value={priority}>
            {priority}
          </option>
        ))}
      </select>
      {isOwn && change.isError && <Notice kind="error">{describeError(change.error)}</Notice>}
    </>
  );
}
