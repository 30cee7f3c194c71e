import { PRIORITY_MAX, PRIORITY_MIN } from '@switchyard/contract/limits.ts';

/** The priorities of the queue; the lowest number runs first. */
export const PRIORITIES: readonly number[] = Array.from(
  { length: PRIORITY_MAX - PRIORITY_MIN + 1 },
  (_, index) => PRIORITY_MIN + index,
);
