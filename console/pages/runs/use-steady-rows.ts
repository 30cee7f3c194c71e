import { useEffect, useState } from 'react';
import { holdRows, type SteadyRows } from './steady-rows.ts';

/** Less than a row of the table: nobody scrolls so little on purpose. */
const SCROLLED_PX = 24;

/**
 * Returns the rows of a list, and how many new ones wait. While the page is scrolled down, new rows do not move the others.
 * `key` names the list: its filters and its order.
 */
export function useSteadyRows<Row extends { id: string }>(
  latest: readonly Row[],
  key: string,
): SteadyRows<Row> & { release: () => void } {
  const [held, setHeld] = useState<{ key: string; rows: readonly Row[] }>();
  const isScrolled = useIsScrolled();
  const isHeld = isScrolled && held?.key === key;
  // An update during the render is one that React repeats at once, before anybody sees the rows.
  if (isScrolled && !isHeld && latest.length > 0) setHeld({ key, rows: latest });
  else if (!isScrolled && held) setHeld(undefined);
  const steady = isHeld ? holdRows(held.rows, latest) : { rows: latest, newCount: 0 };
  return { ...steady, release: () => setHeld(undefined) };
}

function useIsScrolled(): boolean {
  const [isScrolled, setScrolled] = useState(false);
  useEffect(() => {
    const check = () => setScrolled(window.scrollY > SCROLLED_PX);
    check();
    window.addEventListener('scroll', check, { passive: true });
    return () => window.removeEventListener('scroll', check);
  }, []);
  return isScrolled;
}
