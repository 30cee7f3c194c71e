/** The conditions under which the app of a run starts. Experiments check that they do not differ between two sides. */
import { loadavg } from 'node:os';
import type { StartConditions } from '@switchyard/contract/experiments/experiment-runs.ts';
import type { SlotTracker } from '../../workers/slots.ts';
import type { RunsTable } from '../store/schema.ts';

interface Host {
  slots: Pick<SlotTracker, 'busyCount'>;
  folderId: string;
}

/**
 * Returns the present conditions as JSON; null for a run that no experiment compares. The ensemble run of an experiment takes
 * over those of its child runs, which belong to no experiment themselves.
 */
export function readStartConditions(
  { experiment_uid, parent_run_id }: Pick<RunsTable, 'experiment_uid' | 'parent_run_id'>,
  { slots, folderId }: Host,
): string | null {
  if (experiment_uid === null && parent_run_id === null) return null;
  const conditions: StartConditions = {
    host: folderId,
    concurrent_runs: slots.busyCount,
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
  return JSON.stringify(conditions);
}

/** Parses the column; null for a run of no experiment, and for one that has not ended. */
export function parseStartConditions({
  start_conditions,
}: Pick<RunsTable, 'start_conditions'>): StartConditions | null {
  const conditions: StartConditions | null = start_conditions === null ? null : JSON.parse(start_conditions);
  return conditions;
}
