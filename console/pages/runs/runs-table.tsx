import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { storeRunOrder } from '../../ui/keyboard/run-order.ts';
import { useOpenRun } from '../../ui/run-link.tsx';
import table from '../../ui/table.module.css';
import { type Column, findSortField } from './columns.ts';
import { readRowKey } from './row-keys.ts';
import { RunRow } from './run-row.tsx';
import styles from './runs-table.module.css';
import { SortHeader } from './sort-header.tsx';

/** Height of a row in pixels, as the style sheet sets it. */
const ROW_PX = 36;
const ROWS_OUTSIDE = 12;

export interface RunsTableProps {
  application: string;
  runs: readonly Run[];
  columns: readonly Column[];
  /** Ids of the selected runs. */
  selected: ReadonlySet<string>;
  onSelect: (ids: ReadonlySet<string>) => void;
  /** The order of the server, as its query parameter. */
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
}

/** A grid of runs. Arrow keys move between rows, x selects, Enter opens. Only the rows on the screen are rendered. */
export function RunsTable(props: RunsTableProps) {
  const { application, runs, columns, selected, onSelect } = props;
  const body = useRef<HTMLTableElement>(null);
  useEffect(
    () =>
      storeRunOrder(
        application,
        runs.map(({ id }) => id),
      ),
    [application, runs],
  );
  const { rows, before, after, focusRow } = useVisibleRows(body, runs.length);
  const { active, setCurrent, toggle, handleKey } = useRowKeys(
    { application, runs, selected, onSelect },
    focusRow,
  );
  return (
    <div className={table.scroll}>
      <table
        ref={body}
        className={`${table.table} ${styles.table}`}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table with a selection is a grid
        role="grid"
        aria-label="Runs"
        aria-multiselectable="true"
        aria-rowcount={runs.length + 1}
        onKeyDown={handleKey}
      >
        <HeaderRow {...props} />
        <Spacer height={before} />
        <tbody>
          {rows.map((index) => {
            const run = runs[index];
            if (!run) return null;
            return (
              <RunRow
                key={run.id}
                run={run}
                index={index}
                columns={columns}
                application={application}
                isSelected={selected.has(run.id)}
                isCurrent={index === active}
                onToggle={() => toggle(run.id)}
                onFocus={() => setCurrent(index)}
              />
            );
          })}
        </tbody>
        <Spacer height={after} />
      </table>
    </div>
  );
}

/** Returns the row that has the focus, and what keys and clicks do with it. */
function useRowKeys(
  {
    application,
    runs,
    selected,
    onSelect,
  }: Pick<RunsTableProps, 'application' | 'runs' | 'selected' | 'onSelect'>,
  focusRow: (index: number) => void,
) {
  // The id stays with the run when new ones come before it; the index replaces a run that has gone.
  const [current, setRow] = useState({ index: 0, id: '' });
  const setCurrent = (index: number) => setRow({ index, id: runs[index]?.id ?? '' });
  const openRun = useOpenRun();
  const found = runs.findIndex(({ id }) => id === current.id);
  const active = found === -1 ? Math.min(current.index, runs.length - 1) : found;
  const toggle = (id: string) => {
    const changed = new Set(selected);
    if (!changed.delete(id)) changed.add(id);
    onSelect(changed);
  };
  const handleKey = (event: React.KeyboardEvent) => {
    const key = readRowKey(event, active, runs.length);
    const run = runs[active];
    if (!key || !run) return;
    event.preventDefault();
    if (key.action === 'open') openRun(application, run.id);
    if (key.action === 'toggle') toggle(run.id);
    if (key.action === 'select all') onSelect(new Set(runs.map(({ id }) => id)));
    if (key.action === 'clear') onSelect(new Set());
    if (key.action !== 'move') return;
    if (key.isExtending) {
      const [from, to] = [Math.min(active, key.index), Math.max(active, key.index)];
      onSelect(new Set([...selected, ...runs.slice(from, to + 1).map(({ id }) => id)]));
    }
    setCurrent(key.index);
    focusRow(key.index);
  };
  return { active, setCurrent, toggle, handleKey };
}

/** Returns the indexes of the rows to render, the heights of those before and after, and how to focus a row. */
function useVisibleRows(element: React.RefObject<HTMLTableElement | null>, count: number) {
  const virtualizer = useWindowVirtualizer({
    count,
    estimateSize: () => ROW_PX,
    overscan: ROWS_OUTSIDE,
    scrollMargin: element.current?.offsetTop ?? 0,
  });
  const awaited = useRef<number>(undefined);
  // A far row is rendered some frames after the scroll. The row that had the focus may be gone by then.
  useEffect(() => {
    const index = awaited.current;
    if (index === undefined) return;
    const row = element.current?.querySelector<HTMLElement>(`[data-index="${index}"]`);
    const isElsewhere =
      document.activeElement !== document.body && !element.current?.contains(document.activeElement);
    if (row || isElsewhere) awaited.current = undefined;
    if (!isElsewhere) row?.focus({ preventScroll: true });
  });
  const items = virtualizer.getVirtualItems();
  const margin = virtualizer.options.scrollMargin;
  const first = items[0];
  const last = items.at(-1);
  return {
    rows: items.map(({ index }) => index),
    before: first ? first.start - margin : 0,
    after: last ? virtualizer.getTotalSize() - (last.end - margin) : 0,
    focusRow: (index: number) => {
      awaited.current = index;
      virtualizer.scrollToIndex(index);
    },
  };
}

function Spacer({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tbody aria-hidden="true">
      <tr className={styles.spacer}>
        <td style={{ height }} />
      </tr>
    </tbody>
  );
}

function HeaderRow({ runs, columns, selected, onSelect, sort, onSort }: RunsTableProps) {
  const isAll = runs.every(({ id }) => selected.has(id));
  return (
    <thead>
      <tr>
        <th className={styles.check}>
          <input
            type="checkbox"
            aria-label="Select all runs"
            checked={isAll}
            onChange={() => onSelect(isAll ? new Set() : new Set(runs.map(({ id }) => id)))}
          />
        </th>
        <SortHeader label="Status" field="status" sort={sort} onSort={onSort} />
        <SortHeader label="Run" field="name" sort={sort} onSort={onSort} />
        {columns.map((column) => {
          const { id, label, kind } = column;
          const className =
            kind === 'indicator' || id === 'duration' || id === 'waited' ? styles.number : undefined;
          const field = findSortField(column);
          if (field === undefined)
            return (
              <th key={id} className={className}>
                {label}
              </th>
            );
          return (
            <SortHeader
              key={id}
              label={label}
              field={field}
              sort={sort}
              onSort={onSort}
              className={className}
            />
          );
        })}
      </tr>
    </thead>
  );
}
