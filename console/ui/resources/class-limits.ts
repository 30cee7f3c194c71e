import {
  CLASS_LIMITS,
  type ClassLimits,
  computeDurationLimit,
  EXECUTION_CLASSES,
} from '@switchyard/contract/execution-classes.ts';

/** Returns the limits of an execution class; undefined for a class that this release does not know. */
export function findClassLimits(name: string): ClassLimits | undefined {
  const known = EXECUTION_CLASSES.find((one) => one === name);
  return known && CLASS_LIMITS[known];
}

/** Returns the time after which the run is ended, in milliseconds; undefined for a class that this release does not know. */
export function findDurationLimit(run: {
  execution_class: string;
  max_duration?: number | undefined;
}): number | undefined {
  const execution_class = EXECUTION_CLASSES.find((one) => one === run.execution_class);
  return execution_class && computeDurationLimit({ execution_class, max_duration: run.max_duration ?? null });
}
