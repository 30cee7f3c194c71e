/** The conditions under which the app of a run started. Experiments check that they do not differ between two sides. */
import type { StartConditions } from '@switchyard/contract/experiments/experiment-runs.ts';
import type { RunsTable } from './schema.ts';

/** Parses the column; null for a run that is no run of an experiment or has not ended. */
export function parseStartConditions({
  start_conditions,
}: Pick<RunsTable, 'start_conditions'>): StartConditions | null {
  return start_conditions === null ? null : (JSON.parse(start_conditions) as StartConditions);
}
