import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { measureTimes, type PhaseFacts } from '@switchyard/contract/runs/presentation/list-phases.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import { useQuery } from '@tanstack/react-query';
import { isActiveStatus } from '../../client/run-refetch.ts';
import { RelativeTime, useNow } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { type Column, formatCell } from './columns.ts';
import { timesQuery } from './queries.ts';
import styles from './runs-table.module.css';

const TICK_MS = 1_000;

export interface RunRowProps {
  run: Run;
  index: number;
  columns: readonly Column[];
  application: string;
  isSelected: boolean;
  /** true for the row that the tab key reaches. */
  isCurrent: boolean;
  onToggle: () => void;
  onFocus: () => void;
}

/** One run. The row has the focus; its checkbox and link are for the mouse. */
export function RunRow(props: RunRowProps) {
  const { run, index, columns, application, isSelected, isCurrent, onToggle, onFocus } = props;
  const name = run.name || run.id;
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-label={`${name}, ${run.status_v2}`}
      tabIndex={isCurrent ? 0 : -1}
      data-index={index}
      className={styles.row}
      onFocus={onFocus}
    >
      <td className={styles.check}>
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Select ${name}`}
          checked={isSelected}
          onChange={onToggle}
        />
      </td>
      <td>
        <StatusBadge status={run.status_v2} />
      </td>
      <td className={styles.name}>
        <RunLink application={application} run={run.id} tabIndex={-1} title={name}>
          {name}
        </RunLink>
      </td>
      {columns.map((column) => (
        <RunCell key={column.id} run={run} column={column} application={application} />
      ))}
    </tr>
  );
}

function RunCell({ run, column, application }: { run: Run; column: Column; application: string }) {
  if (column.id === 'created')
    return (
      <td>
        <RelativeTime at={run.created_at} />
      </td>
    );
  if (column.id === 'duration') return <TimeCell run={run} application={application} time="ran" />;
  if (column.id === 'waited') return <TimeCell run={run} application={application} time="waited" />;
  const { text, isNumber } = formatCell(run, column);
  return (
    <td className={isNumber ? styles.number : undefined} title={text}>
      {text}
    </td>
  );
}

interface TimeCellProps {
  run: Run;
  application: string;
  /** The run time, or the time in the queue. */
  time: 'ran' | 'waited';
}

/** A time of a run; of an active one until now. */
function TimeCell({ run, application, time }: TimeCellProps) {
  const { data } = useQuery(timesQuery(application, run.id, run.status_v2));
  return (
    <td className={styles.number}>
      {data &&
        (isActiveStatus(run.status_v2) ? <ActiveTime facts={data} time={time} /> : formatTime(data, time))}
    </td>
  );
}

function ActiveTime({ facts, time }: { facts: PhaseFacts; time: TimeCellProps['time'] }) {
  return formatTime(facts, time, useNow(TICK_MS));
}

function formatTime(facts: PhaseFacts, time: TimeCellProps['time'], now = 0): string {
  const ms = measureTimes(facts, now)[time];
  return ms === null ? '–' : formatDuration(ms);
}
