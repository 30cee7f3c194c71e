import {
  CLASS_LIMITS,
  type ClassLimits,
  computeDurationLimit,
  EXECUTION_CLASSES,
} from '@switchyard/contract/execution-classes.ts';
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';

/** Returns the limits of an execution class; undefined for a class that this release does not know. */
export function findClassLimits(name: string): ClassLimits | undefined {
  const known = EXECUTION_CLASSES.find((one) => one === name);
  return known && CLASS_LIMITS[known];
}

/** The time after which a run is ended. */
export interface TimeLimit {
  ms: number;
  /** Says whose limit it is, such as `own limit 1 min 30 s`. */
  text: string;
}

/** Returns the limit that ends the run: its own, or that of its class. It is undefined for a class that this release does not know. */
export function findTimeLimit(run: {
  execution_class: string;
  max_duration?: number | undefined;
}): TimeLimit | undefined {
  const execution_class = EXECUTION_CLASSES.find((one) => one === run.execution_class);
  if (!execution_class) return undefined;
  const ms = computeDurationLimit({ execution_class, max_duration: run.max_duration ?? null });
  return describeTimeLimit(ms, run.max_duration);
}

/** Returns the limit with the words for it. `own` is the maximum duration of the run in seconds, if it has one. */
export function describeTimeLimit(ms: number, own: number | undefined): TimeLimit {
  return {
    ms,
    text: `${own !== undefined && own * 1000 <= ms ? 'own' : 'class'} limit ${formatDuration(ms)}`,
  };
}
