import { type KeyboardEvent, useState } from 'react';
import { findNextIndex } from '../keyboard/table-keys.ts';

/** The selection of a list, and what a press on a row does. */
export interface RowSelection<Row> {
  /** Names the box that selects all rows. */
  label: string;
  /** The keys of the selected rows. */
  selected: ReadonlySet<string>;
  onSelect: (keys: ReadonlySet<string>) => void;
  nameOf: (row: Row) => string;
  /** What a screen reader says of a row; the default is its name. */
  describe?: (row: Row) => string;
  onOpen: (row: Row) => void;
}

type RowKey =
  | { action: 'move'; index: number; isExtending: boolean }
  | { action: 'open' | 'toggle' | 'select all' | 'clear' };

type PressedKey = Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** Returns the meaning of a key in the row at `index` of `count`, or undefined for a key of the browser. */
export function readRowKey(event: PressedKey, index: number, count: number): RowKey | undefined {
  const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
  if (altKey) return undefined;
  if (ctrlKey || metaKey) return key === 'a' ? { action: 'select all' } : undefined;
  const target = findNextIndex(key, index, count);
  if (target !== undefined) return { action: 'move', index: target, isExtending: shiftKey };
  if (key === 'Enter') return { action: 'open' };
  if (key === 'x' || key === ' ') return { action: 'toggle' };
  return key === 'Escape' ? { action: 'clear' } : undefined;
}

/** Returns what keys and presses do in a list with a selection; without one, nothing. */
export function useRowKeys<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  selection: RowSelection<Row> | undefined,
  focusRow: (index: number) => void,
) {
  // The key stays with the row when new ones come before it; the index replaces a row that has gone.
  const [current, setRow] = useState({ index: 0, key: '' });
  const keyAt = (index: number) => rows.slice(index, index + 1).map(keyOf)[0] ?? '';
  const setCurrent = (index: number) => setRow({ index, key: keyAt(index) });
  const found = rows.findIndex((row) => keyOf(row) === current.key);
  const active = found === -1 ? Math.min(current.index, rows.length - 1) : found;
  const select = (keys: Iterable<string>) => selection?.onSelect(new Set(keys));
  const toggle = (key: string) => {
    const changed = new Set(selection?.selected);
    if (!changed.delete(key)) changed.add(key);
    select(changed);
  };
  const handleKey = (event: KeyboardEvent) => {
    // A menu or a field in a row or in the header has keys of its own.
    if (!selection || !(event.target instanceof HTMLElement)) return;
    if (
      event.target.closest('tbody > tr') !== event.target &&
      event.target.closest('tbody td:not(:first-child)')
    )
      return;
    if (event.target.closest('thead')) return;
    const key = readRowKey(event, active, rows.length);
    const row = rows[active];
    if (!key || row === undefined) return;
    event.preventDefault();
    if (key.action === 'open') selection.onOpen(row);
    if (key.action === 'toggle') toggle(keyOf(row));
    if (key.action === 'select all') select(rows.map(keyOf));
    if (key.action === 'clear') select([]);
    if (key.action !== 'move') return;
    if (key.isExtending) {
      const [from, to] = [Math.min(active, key.index), Math.max(active, key.index)];
      select([...selection.selected, ...rows.slice(from, to + 1).map(keyOf)]);
    }
    setCurrent(key.index);
    focusRow(key.index);
  };
  const describeRow = (row: Row, index: number) => ({
    'aria-selected': selection?.selected.has(keyOf(row)),
    'aria-label': selection?.describe?.(row) ?? selection?.nameOf(row),
    tabIndex: index === active ? 0 : -1,
    onFocus: () => setCurrent(index),
  });
  return { handleKey, toggle, describeRow };
}
