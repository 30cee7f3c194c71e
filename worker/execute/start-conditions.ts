/** The conditions under which the app of a run starts. Experiments check that they do not differ between two sides. */
import { loadavg } from 'node:os';
import type { StartConditions } from '@switchyard/contract/experiments/experiment-runs.ts';

/** Returns the present conditions. `folderId` identifies the data folder of the worker, also after a restart. */
export function readStartConditions(folderId: string, busySlots: number): StartConditions {
  return {
    host: folderId,
    concurrent_runs: busySlots,
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
}
