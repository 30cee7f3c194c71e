import { useEffect } from 'react';
import { isTextTarget } from './text-target.ts';

const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), summary';

/** Returns the index of the row that a key moves to, or undefined for a key that does not move. */
export function findNextIndex(key: string, index: number, count: number): number | undefined {
  if (key === 'ArrowDown') return Math.min(index + 1, count - 1);
  if (key === 'ArrowUp') return Math.max(index - 1, 0);
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : undefined;
}

/** Returns the element that gets the focus in a row: that of the same column, or the first one. */
function findRowTarget(row: HTMLTableRowElement, column: number): HTMLElement | null {
  return (
    row.cells[column]?.querySelector<HTMLElement>(FOCUSABLE) ?? row.querySelector<HTMLElement>(FOCUSABLE)
  );
}

/** Moves the focus to another row of the table that has it. A field keeps its keys, and a menu button opens its menu. */
function moveToRow(event: KeyboardEvent): void {
  const { target } = event;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (!(target instanceof HTMLElement) || isTextTarget(event) || target.ariaHasPopup !== null) return;
  const table = target.closest('table') ?? target.querySelector(':scope > table');
  const rows = [...(table?.tBodies ?? [])].flatMap((body) =>
    [...body.rows].filter((row) => findRowTarget(row, 0) !== null),
  );
  const cell = target.closest<HTMLTableCellElement>('tbody > tr > *');
  const row = target.closest('tr');
  const next = findNextIndex(event.key, row === null ? -1 : rows.indexOf(row), rows.length);
  if (next === undefined || rows[next] === undefined) return;
  event.preventDefault();
  findRowTarget(rows[next], cell?.cellIndex ?? 0)?.focus();
}

/** Lets the arrow keys, Home and End move between the rows of every table whose rows have links or buttons. */
export function useTableKeys(): void {
  useEffect(() => {
    addEventListener('keydown', moveToRow);
    return () => removeEventListener('keydown', moveToRow);
  }, []);
}
