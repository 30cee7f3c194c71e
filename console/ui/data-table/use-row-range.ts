import { type RefObject, useLayoutEffect, useState } from 'react';

/** Rows beyond the visible ones, for a scroll that is faster than the next frame. */
const ROWS_OUTSIDE = 16;
/** Before the size of the view is known. */
const ROWS_FIRST = 120;

/** Rows of one height. */
interface Rows {
  count: number;
  /** Height of each in pixels. */
  height: number;
  /** The element that scrolls. */
  box: RefObject<HTMLElement | null>;
  /** The window scrolls, and `box` is in it. */
  isInWindow?: boolean;
}

/**
 * Returns the first row in or near the view, and the one after the last. With rows of one height, a million of them cost no
 * more than a hundred.
 */
export function useRowRange({ count, height, box, isInWindow = false }: Rows): readonly [number, number] {
  const [range, setRange] = useState<readonly [number, number]>([0, ROWS_FIRST]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const read = () => {
      const top = isInWindow ? -element.getBoundingClientRect().top : element.scrollTop;
      const size = isInWindow ? innerHeight : element.clientHeight;
      const first = Math.max(0, Math.floor(top / height) - ROWS_OUTSIDE);
      const end = Math.max(0, Math.ceil((top + size) / height) + ROWS_OUTSIDE);
      setRange((before) => (before[0] === first && before[1] === end ? before : [first, end]));
    };
    read();
    const target = isInWindow ? window : element;
    const sizes = new ResizeObserver(read);
    sizes.observe(isInWindow ? document.documentElement : element);
    target.addEventListener('scroll', read, { passive: true });
    return () => {
      sizes.disconnect();
      target.removeEventListener('scroll', read);
    };
  }, [box, height, isInWindow]);
  const end = Math.min(count, range[1]);
  return [Math.min(range[0], end), end];
}

/** Returns the whole numbers from `first` to the one before `end`. */
export function listIndexes([first, end]: readonly [number, number]): number[] {
  return Array.from({ length: end - first }, (_, at) => first + at);
}
