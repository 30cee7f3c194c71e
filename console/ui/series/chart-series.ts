import type { Series } from '@switchyard/contract/runs/statistics-series.ts';

/** A series of a chart. A ratio has an axis in percent. */
export interface ChartSeries extends Series {
  isRatio?: boolean;
  /** The values of x are seconds since the start of the run. */
  isOverSeconds?: boolean;
}
