import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { useId } from 'react';
import { Button } from '../../ui/button.tsx';
import { Meter } from '../../ui/charts/meter.tsx';
import { useNow } from '../../ui/relative-time.tsx';
import { findDurationLimit } from '../../ui/resources/class-limits.ts';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import type { Lane, LaneGroup } from './list-lanes.ts';
import styles from './queue-page.module.css';
import { RunCell } from './run-cell.tsx';

const TICK_MS = 1_000;
/** More free slots than these are one row. */
const FREE_ROWS_MAX = 4;
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** Cancels a run of the queue; absent when the role of the person may not cancel. */
export type OnCancel = ((run: ActiveRun) => void) | undefined;

/** One lane for each slot of the workers, with the run in it and its duration so far. */
export function SlotTable({ groups, onCancel }: { groups: readonly LaneGroup[]; onCancel: OnCancel }) {
  const heading = useId();
  const now = useNow(TICK_MS);
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading}>Running</h2>
      {groups.length === 0 ? (
        <p>No worker has a slot, so no run starts.</p>
      ) : (
        <TableRegion label="List of slots">
          <table className={table.table} aria-labelledby={heading}>
            <thead>
              <tr>
                <th className={table.number}>Slot</th>
                <th>Run</th>
                <th>Running for</th>
                <th>Execution class</th>
                <th>User</th>
                <th className={table.number}>Attempt</th>
                {onCancel && <td />}
              </tr>
            </thead>
            {groups.map((group) => (
              <SlotGroup key={group.id} group={group} now={now} onCancel={onCancel} />
            ))}
          </table>
        </TableRegion>
      )}
    </section>
  );
}

interface SlotGroupProps {
  group: LaneGroup;
  now: number;
  onCancel: OnCancel;
}

function SlotGroup({ group: { title, lanes }, now, onCancel }: SlotGroupProps) {
  const free = lanes.filter(({ kind }) => kind === 'free').length;
  const isShort = free <= FREE_ROWS_MAX;
  const visible = isShort ? lanes : lanes.filter(({ kind }) => kind !== 'free');
  const columns = onCancel ? 6 : 5;
  return (
    <tbody>
      <tr className={styles.group}>
        <th scope="rowgroup" colSpan={columns + 1}>
          {title}
        </th>
      </tr>
      {visible.map((lane, index) => (
        <tr key={lane.kind === 'run' ? lane.run.id : index}>
          <td className={table.number}>{index + 1}</td>
          <LaneCells lane={lane} now={now} onCancel={onCancel} />
        </tr>
      ))}
      {!isShort && (
        <tr>
          <td className={table.number}>{`${visible.length + 1} to ${lanes.length}`}</td>
          <td className={styles.idle} colSpan={columns}>
            {free} free slots
          </td>
        </tr>
      )}
    </tbody>
  );
}

function LaneCells({ lane, now, onCancel }: { lane: Lane; now: number; onCancel: OnCancel }) {
  if (lane.kind !== 'run')
    return (
      <td className={styles.idle} colSpan={onCancel ? 6 : 5}>
        {lane.kind === 'free' ? 'Free' : 'A run of another account'}
      </td>
    );
  const { run } = lane;
  return (
    <>
      <RunCell run={run} />
      <td>
        <Elapsed run={run} now={now} />
      </td>
      <td>{run.execution_class}</td>
      <td>{run.user_email}</td>
      <td className={table.number}>{run.attempt}</td>
      {onCancel && (
        <td className={styles.action}>
          <Button onPress={() => onCancel(run)} aria-label={`Cancel ${run.name || run.id}`}>
            Cancel
          </Button>
        </td>
      )}
    </>
  );
}

/** The run time as a share of the time after which the run is ended. */
function Elapsed({ run, now }: { run: ActiveRun; now: number }) {
  const since = run.initiated_at ?? run.created_at;
  const start = Date.parse(since);
  const elapsed = Math.max(0, now - start);
  const limit = findDurationLimit(run) ?? elapsed;
  return (
    <time className={styles.elapsed} dateTime={since} title={exact.format(start)}>
      <Meter
        label={`Run time of ${run.name || run.id} within its time limit`}
        value={elapsed}
        max={limit}
        text={`${formatDuration(elapsed)} of ${formatDuration(limit)}`}
      />
    </time>
  );
}
