import { type RefObject, useEffect, useState } from 'react';

/**
 * Returns true while the table is wider than its region. Only then may the region scroll: a header does not stay in sight
 * in a region that scrolls.
 */
export function useIsWide(table: RefObject<HTMLElement | null>): boolean {
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    const element = table.current;
    const region = element?.parentElement;
    if (!element || !region) return;
    const observer = new ResizeObserver(() => setWide(element.offsetWidth > region.clientWidth + 1));
    observer.observe(element);
    observer.observe(region);
    return () => observer.disconnect();
  }, [table]);
  return isWide;
}
