/** The keys of the runs table. */
import { findNextIndex } from '../../ui/keyboard/table-keys.ts';

type RowKey =
  | { action: 'move'; index: number; isExtending: boolean }
  | { action: 'open' | 'toggle' | 'select all' | 'clear' };

interface PressedKey {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

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
