import { type RefObject, useEffect, useRef, useSyncExternalStore } from 'react';
import { listIndexes, useRowRange } from './use-row-range.ts';

/** Heights of rows in pixels, as the style sheet sets them. They are fixed, so the scroll bar is true without measuring. */
const ROW_PX = 36;
const TALL_ROW_PX = 48;
const CARD_PX = 57;
const TALL_CARD_PX = 73;
const PHONE = '(width < 47.5rem)';
/** A shorter list is rendered whole: the search of the browser finds its rows. */
const VIRTUAL_ROWS_MIN = 120;

/** Returns the indexes of the rows to render, the heights of those before and after, and how to focus a row. */
export function useVisibleRows(table: RefObject<HTMLTableElement | null>, count: number, isTall: boolean) {
  const isPhone = useIsPhone();
  const height = isPhone ? (isTall ? TALL_CARD_PX : CARD_PX) : isTall ? TALL_ROW_PX : ROW_PX;
  const isVirtual = count >= VIRTUAL_ROWS_MIN;
  const range = useRowRange({ count, height, box: table, isInWindow: true });
  const awaited = useRef<number>(undefined);
  // A far row is rendered some frames after the scroll. The row that had the focus may be gone by then.
  useEffect(() => {
    const index = awaited.current;
    if (index === undefined) return;
    const row = table.current?.querySelector<HTMLElement>(`[data-index="${index}"]`);
    const isElsewhere =
      document.activeElement !== document.body && !table.current?.contains(document.activeElement);
    if (row || isElsewhere) awaited.current = undefined;
    if (!isElsewhere) row?.focus({ preventScroll: isVirtual });
  });
  const focusRow = (index: number) => {
    awaited.current = index;
    if (!isVirtual || !table.current) return;
    const top = table.current.getBoundingClientRect().top + index * height;
    const isVisible = top > 2 * height && top < innerHeight - 2 * height;
    if (!isVisible) scrollBy({ top: top - innerHeight / 2 });
  };
  const [first, end] = isVirtual ? range : [0, count];
  return {
    indexes: listIndexes([first, end]),
    before: first * height,
    after: (count - end) * height,
    focusRow,
    isVirtual,
  };
}

/** Returns true in a window of the width of a phone. */
function useIsPhone(): boolean {
  return useSyncExternalStore(
    (onChange) => {
      const query = matchMedia(PHONE);
      query.addEventListener('change', onChange);
      return () => query.removeEventListener('change', onChange);
    },
    () => matchMedia(PHONE).matches,
  );
}
