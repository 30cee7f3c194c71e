/** The slots of the workers. */
import { EXECUTION_CLASS_DEFAULT } from '../execution-classes.ts';
import type { Worker } from './workers.ts';

/** Returns the slots of active workers that serve the default execution class; 1 without any. */
export function countSlots(workers: readonly Worker[]): number {
  const slots = workers
    .filter(({ status }) => status === 'active')
    .flatMap((worker) => worker.slots)
    .filter(({ execution_classes }) => execution_classes.includes(EXECUTION_CLASS_DEFAULT))
    .reduce((sum, group) => sum + group.slots, 0);
  return Math.max(slots, 1);
}
