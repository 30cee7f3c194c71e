import type { Series } from '@switchyard/contract/runs/statistics-series.ts';

/** A series of a chart. */
export interface ChartSeries extends Series {
  /** How it is drawn: this run, a run that it is compared with, or a proven bound. The default is one of several equals. */
  role?: 'own' | 'control' | 'bound';
  /** Number of its hue among equals, from 1; the default is its place in the chart. */
  hue?: number;
  /** Returns what stands at the end of its line, from its last value as the axis writes it. The default is its name. */
  label?: (value: string) => string;
  /** The values are shares. */
  isRatio?: boolean;
  /** The values of x are seconds since the start of the run. */
  isOverSeconds?: boolean;
  /** Samples are joined by slopes. Any other value holds until the next one. */
  isSampled?: boolean;
}
