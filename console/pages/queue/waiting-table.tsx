import { PRIORITY_MAX, PRIORITY_MIN } from '@switchyard/contract/limits.ts';
import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { useId } from 'react';
import { describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { formatWaiting } from '../../ui/resources/format-waiting.ts';
import { formatStartAbsence, PredictedStart } from '../../ui/resources/predicted-start.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { usePriorityChange } from './queries.ts';
import styles from './queue-page.module.css';
import { RunCell } from './run-cell.tsx';
import type { OnCancel } from './slot-table.tsx';

const PRIORITIES = Array.from(
  { length: PRIORITY_MAX - PRIORITY_MIN + 1 },
  (_, index) => PRIORITY_MIN + index,
);

/** The runs that wait, in queue order, with the reason and the priority, which the person can change. */
export function WaitingTable({ runs, onCancel }: { runs: readonly ActiveRun[]; onCancel: OnCancel }) {
  const heading = useId();
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
                <WaitingRow key={run.id} run={run} onCancel={onCancel} />
              ))}
            </tbody>
          </table>
        </TableRegion>
      )}
    </section>
  );
}

function WaitingRow({ run, onCancel }: { run: ActiveRun; onCancel: OnCancel }) {
  return (
    <tr>
      <td className={table.number}>{run.waiting?.place}</td>
      <RunCell run={run} />
      <td className={styles.reason} title={run.waiting?.message}>
        {run.waiting && formatWaiting(run.waiting)}
      </td>
      <td className={styles.start}>
        {run.waiting?.predicted_start && <PredictedStart range={run.waiting.predicted_start} />}
        {run.waiting?.predicted_start_absence && formatStartAbsence(run.waiting.predicted_start_absence)}
      </td>
      <td>{run.execution_class}</td>
      <td>{onCancel ? <PriorityField run={run} /> : run.queuing_priority}</td>
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

/** Changes the priority of a run at once, also by the arrow keys. */
function PriorityField({ run }: { run: ActiveRun }) {
  const change = usePriorityChange({ application_id: run.application_id, run_id: run.id });
  return (
    <>
      <select
        aria-label={`Priority of ${run.name || run.id}`}
        value={change.isPending ? change.variables : run.queuing_priority}
        onChange={(event) => change.mutate(Number(event.target.value))}
      >
        {PRIORITIES.map((priority) => (
          <option key={priority} value={priority}>
            {priority}
          </option>
        ))}
      </select>
      {change.isError && <Notice kind="error">{describeError(change.error)}</Notice>}
    </>
  );
}
