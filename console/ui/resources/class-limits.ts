import { CLASS_LIMITS, type ClassLimits, EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';

/** Returns the limits of an execution class; undefined for a class that this release does not know. */
export function findClassLimits(name: string): ClassLimits | undefined {
  const known = EXECUTION_CLASSES.find((one) => one === name);
  return known && CLASS_LIMITS[known];
}
