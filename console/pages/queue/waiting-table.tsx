import { PRIORITY_MAX, PRIORITY_MIN } from '@switchyard/contract/limits.ts';
import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { type DragEvent, useId, useState } from 'react';
import { describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { formatWaiting } from '../../ui/resources/format-waiting.ts';
import { formatStartAbsence, PredictedStart } from '../../ui/resources/predicted-start.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { findDropPriority } from './drop-priority.ts';
import { usePriorityChange } from './queries.ts';
import styles from './queue-page.module.css';
import { RunCell } from './run-cell.tsx';
import type { OnCancel } from './slot-table.tsx';

const PRIORITIES = Array.from(
  { length: PRIORITY_MAX - PRIORITY_MIN + 1 },
  (_, index) => PRIORITY_MIN + index,
);

/**
 * The runs that wait, in queue order, with the reason and the priority. The person changes it by the field, or drags the run to
 * another place.
 */
export function WaitingTable({ runs, onCancel }: { runs: readonly ActiveRun[]; onCancel: OnCancel }) {
  const heading = useId();
  const change = usePriorityChange();
  const [dragged, setDragged] = useState<ActiveRun | null>(null);
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading}>Waiting</h2>
      {runs.length === 0 ? (
        <p>No run waits.</p>
      ) : (
        <TableRegion label="List of waiting runs">
          <table className={table.table} aria-labelledby={heading}>
            <thead>
              <tr>
                <th className={table.number}>Position</th>
                <th>Run</th>
                <th>Reason</th>
                <th>Predicted start</th>
                <th>Execution class</th>
                <th>Priority</th>
                <th>Created</th>
                {onCancel && <td />}
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <WaitingRow key={run.id} run={run} onCancel={onCancel} {...{ change, dragged, setDragged }} />
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
  /** The run that is dragged over the table. */
  dragged: ActiveRun | null;
  setDragged(run: ActiveRun | null): void;
}

function WaitingRow({ run, onCancel, change, dragged, setDragged }: RowProps) {
  const priority = dragged && findDropPriority(dragged, run);
  const [isOver, setIsOver] = useState(false);
  const drop = (event: DragEvent): void => {
    setIsOver(false);
    if (dragged === null || priority === null) return;
    event.preventDefault();
    change.mutate({ run: dragged, priority });
  };
  return (
    <tr
      className={isOver && priority !== null ? styles.target : ''}
      onDragOver={(event) => {
        setIsOver(true);
        // The browser refuses a drop without this.
        if (priority !== null) event.preventDefault();
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      <td className={table.number}>
        {onCancel && <DragHandle onStart={() => setDragged(run)} onEnd={() => setDragged(null)} />}
        {run.waiting?.place}
      </td>
      <RunCell run={run} />
      <td className={styles.reason} title={run.waiting?.message}>
        {run.waiting && formatWaiting(run.waiting)}
      </td>
      <td className={styles.start}>
        {run.waiting?.predicted_start && <PredictedStart range={run.waiting.predicted_start} />}
        {run.waiting?.predicted_start_absence && formatStartAbsence(run.waiting.predicted_start_absence)}
      </td>
      <td>{run.execution_class}</td>
      <td>{onCancel ? <PriorityField run={run} change={change} /> : run.queuing_priority}</td>
      <td className={styles.created}>
        <RelativeTime at={run.created_at} />
      </td>
      {onCancel && (
        <td className={styles.action}>
          <Button onPress={() => onCancel(run)} aria-label={`Cancel ${run.name || run.id}`}>
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
