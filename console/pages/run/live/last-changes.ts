/** What the last improvement of a run changed, from the series in its log. Pure. */
import type { RunSeries } from '@switchyard/contract/runs/run-series.ts';

/** A number of the log, with its change. */
export interface LastChange {
  name: string;
  value: number;
  /** The value with the improvement before the last one; undefined when it is not known. */
  before: number | undefined;
}

/** Numbers of one line of a log come together; those of a later line belong to what followed. */
const SAME_TIME_S = 0.05;

/** Returns the last value of each series of the log, and its change from the improvement before the last one to the last. */
export function listLastChanges(
  series: readonly RunSeries[],
  improved: readonly (readonly [seconds: number, value: number])[],
): LastChange[] {
  const [last, earlier] = [improved.at(-1), improved.at(-2)];
  const findAt = (one: RunSeries, seconds: number | undefined): number | undefined =>
    seconds === undefined ? undefined : one.points.findLast(([x = 0]) => x <= seconds + SAME_TIME_S)?.[1];
  return series
    .filter(({ source }) => source === 'log')
    .flatMap((one) => {
      const value = findAt(one, last?.[0]) ?? one.points.at(-1)?.[1];
      return value === undefined
        ? []
        : [{ name: one.name, value, before: last && findAt(one, earlier?.[0]) }];
    });
}
