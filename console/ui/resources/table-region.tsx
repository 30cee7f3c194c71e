import type { ReactNode } from 'react';
import table from '../table.module.css';

/** The frame of a table. A table that is wider than the page scrolls in it, also by the arrow keys. */
export function TableRegion({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by the keyboard
    <section className={table.scroll} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
