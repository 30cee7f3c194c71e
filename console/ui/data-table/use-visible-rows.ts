import { type RefObject, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';

/** Heights of rows in pixels, as the style sheet sets them. They are fixed, so the scroll bar is true without measuring. */
const ROW_PX = 36;
const TALL_ROW_PX = 48;
const CARD_PX = 57;
const TALL_CARD_PX = 73;
const PHONE = '(width < 47.5rem)';
const ROWS_OUTSIDE = 12;
/** A shorter list is rendered whole: the search of the browser finds its rows. */
const VIRTUAL_ROWS_MIN = 120;

/** Returns the indexes of the rows to render, the heights of those before and after, and how to focus a row. */
export function useVisibleRows(table: RefObject<HTMLTableElement | null>, count: number, isTall: boolean) {
  const isPhone = useIsPhone();
  const height = isPhone ? (isTall ? TALL_CARD_PX : CARD_PX) : isTall ? TALL_ROW_PX : ROW_PX;
  const isVirtual = count >= VIRTUAL_ROWS_MIN;
  const [first, end] = useRange(table, count, isVirtual ? height : 0);
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
  if (!isVirtual) return { indexes: [...Array(count).keys()], before: 0, after: 0, focusRow, isVirtual };
  return {
    indexes: Array.from({ length: end - first }, (_, at) => first + at),
    before: first * height,
    after: (count - end) * height,
    focusRow,
    isVirtual,
  };
}

/** Returns the first row in or near the window, and the one after the last. A height of 0 means all rows. */
function useRange(
  table: RefObject<HTMLTableElement | null>,
  count: number,
  height: number,
): readonly [number, number] {
  const [range, setRange] = useState<readonly [number, number]>([0, VIRTUAL_ROWS_MIN]);
  useLayoutEffect(() => {
    if (height === 0) return;
    const read = () => {
      const top = table.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / height) - ROWS_OUTSIDE);
      const end = Math.ceil((innerHeight - top) / height) + ROWS_OUTSIDE;
      setRange((before) => (before[0] === first && before[1] === end ? before : [first, end]));
    };
    read();
    addEventListener('scroll', read, { passive: true });
    addEventListener('resize', read);
    return () => {
      removeEventListener('scroll', read);
      removeEventListener('resize', read);
    };
  }, [table, height]);
  const end = Math.min(count, Math.max(0, range[1]));
  return [Math.min(range[0], end), end];
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
