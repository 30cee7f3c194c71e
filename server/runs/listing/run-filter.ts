/** A filter and an order for a list of runs, as conditions on their values. Pure. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { ValueInterval } from '../values/encode-value.ts';
import { type IndexedRun, listFieldValues } from '../values/run-values.ts';

/** A condition on a field: one of the intervals, which do not overlap, contains one of its values. */
export interface RunCondition {
  field: string;
  intervals: readonly ValueInterval[];
}

/** A filter with an order. */
export interface RunFilter {
  /** Those that few runs satisfy come last: they decide what is read. */
  conditions: readonly RunCondition[];
  /** The field to sort by; null for the creation time. */
  sort: string | null;
  isDescending: boolean;
  /** The window of the creation time in milliseconds, start included and end excluded. */
  start: number;
  end: number;
}

/** The position of a run in a list; with a value in a list that is sorted by a field. */
export interface RunPosition {
  at: number;
  id: string;
  value?: string;
}

/** A listed run with its position. */
export type FoundRun = RunPosition & { id: RunId };

/** Returns true for a condition that names single values. */
export function isExact({ intervals }: RunCondition): boolean {
  return intervals.every(({ from, to }) => from === to);
}

/** Returns true if the run satisfies all conditions. */
export function satisfiesAll(run: IndexedRun, conditions: readonly RunCondition[]): boolean {
  const hasValue = ({ field, intervals }: RunCondition): boolean =>
    listFieldValues(run, field).some((value) => intervals.some((interval) => isBetween(value, interval)));
  return conditions.every(hasValue);
}

/** Returns true if the interval contains the encoded value. */
export function isBetween(value: string, { from, to }: ValueInterval): boolean {
  return compareBytes(from, value) <= 0 && compareBytes(value, to) <= 0;
}

/**
 * Compares two encoded values for sort(). JavaScript compares UTF-16 units, the databases UTF-8 bytes; the orders differ
 * beyond the basic plane.
 */
export function compareBytes(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** Compares two positions by time for sort(): negative when the first comes first in the order. */
export function comparePositions(one: RunPosition, other: RunPosition, isDescending: boolean): number {
  const ids = one.id === other.id ? 0 : one.id < other.id ? -1 : 1;
  return (one.at - other.at || ids) * (isDescending ? -1 : 1);
}
