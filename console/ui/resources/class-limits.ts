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

interface LimitedRun {
  execution_class: string;
  max_duration?: number | undefined;
  /** What the server states from the start on. */
  limits?: { duration_ms: number } | undefined;
}

/** Returns the limit that ends the run: its own, or that of its class. It is undefined for a class that this release does not know. */
export function findTimeLimit({ max_duration: own, limits, ...run }: LimitedRun): TimeLimit | undefined {
  const execution_class = EXECUTION_CLASSES.find((one) => one === run.execution_class);
  if (!execution_class) return undefined;
  const ms = limits?.duration_ms ?? computeDurationLimit({ execution_class, max_duration: own ?? null });
  return {
    ms,
    text: `${own !== undefined && own * 1000 <= ms ? 'own' : 'class'} limit ${formatDuration(ms)}`,
  };
}
