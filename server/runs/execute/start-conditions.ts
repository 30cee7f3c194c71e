/** The conditions under which the app of a run started, as the row stores them. */
import type { StartConditions } from '@switchyard/contract/experiments/experiment-runs.ts';
import type { RunsTable } from '../store/schema.ts';

/** Parses the column; null for a run of no experiment, and for one that has not ended. */
export function parseStartConditions({
  start_conditions,
}: Pick<RunsTable, 'start_conditions'>): StartConditions | null {
  const conditions: StartConditions | null = start_conditions === null ? null : JSON.parse(start_conditions);
  return conditions;
}
