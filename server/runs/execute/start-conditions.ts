/** Reads the conditions under which the app of a run starts. */
import { loadavg } from 'node:os';
import type { StartConditions } from '@switchyard/contract/experiments/experiment-runs.ts';
import type { SlotTracker } from '../../workers/slots.ts';
import type { RunsTable } from '../store/schema.ts';

interface Host {
  slots: Pick<SlotTracker, 'busyCount'>;
  folderId: string;
}

/** Returns the conditions as JSON; null for a run of no experiment, which nobody compares. */
export function readStartConditions(
  { experiment_uid }: Pick<RunsTable, 'experiment_uid'>,
  { slots, folderId }: Host,
): string | null {
  if (experiment_uid === null) return null;
  const conditions: StartConditions = {
    host: folderId,
    concurrent_runs: slots.busyCount,
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
  return JSON.stringify(conditions);
}
