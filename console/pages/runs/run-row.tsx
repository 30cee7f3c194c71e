import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import { useQuery } from '@tanstack/react-query';
import { isActiveStatus } from '../../client/run-refetch.ts';
import { RelativeTime, useNow } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { type Column, formatCell } from './columns.ts';
import { durationQuery } from './queries.ts';
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
  if (column.id === 'duration') return <DurationCell run={run} application={application} />;
  const { text, isNumber } = formatCell(run, column);
  return (
    <td className={isNumber ? styles.number : undefined} title={text}>
      {text}
    </td>
  );
}

/** The time until now of an active run, and the stored duration of one that has ended. */
function DurationCell({ run, application }: { run: Run; application: string }) {
  const { data } = useQuery(durationQuery(application, run.id, run.status_v2));
  return (
    <td className={styles.number}>
      {isActiveStatus(run.status_v2) ? (
        <ActiveDuration since={run.created_at} />
      ) : (
        data !== undefined && formatDuration(data)
      )}
    </td>
  );
}

function ActiveDuration({ since }: { since: string }) {
  const now = useNow(TICK_MS);
  return formatDuration(Math.max(0, now - Date.parse(since)));
}
