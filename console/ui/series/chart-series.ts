import type { Series } from '@switchyard/contract/runs/statistics-series.ts';

/** A series of a chart. A ratio has an axis in percent. */
export interface ChartSeries extends Series {
  isRatio?: boolean;
  /** The values of x are seconds since the start of the run. */
  isOverSeconds?: boolean;
  /** As CSS; the default is that of its place in the chart. */
  colour?: string;
  isDashed?: boolean;
}

const PALETTE_SIZE = 8;

/** Returns the colour of a series, as CSS. */
export function colourSeries({ colour }: Pick<ChartSeries, 'colour'>, index: number): string {
  return colour ?? `var(--data-${(index % PALETTE_SIZE) + 1})`;
}
