/** The keys of the runs table. */

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

/** Returns the row that a key moves to, or undefined for a key that does not move. */
function findTarget(key: string, index: number, count: number): number | undefined {
  if (key === 'ArrowDown') return Math.min(index + 1, count - 1);
  if (key === 'ArrowUp') return Math.max(index - 1, 0);
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : undefined;
}

/** Returns the meaning of a key in the row at `index` of `count`, or undefined for a key of the browser. */
export function readRowKey(event: PressedKey, index: number, count: number): RowKey | undefined {
  const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
  if (altKey) return undefined;
  if (ctrlKey || metaKey) return key === 'a' ? { action: 'select all' } : undefined;
  const target = findTarget(key, index, count);
  if (target !== undefined) return { action: 'move', index: target, isExtending: shiftKey };
  if (key === 'Enter') return { action: 'open' };
  if (key === 'x' || key === ' ') return { action: 'toggle' };
  return key === 'Escape' ? { action: 'clear' } : undefined;
}
