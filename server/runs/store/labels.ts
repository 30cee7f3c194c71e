/** What the owner of a run, an experiment or the run of an ensemble, knows it by. Kept with the run as it was planned. */
import type { RunsTable } from './schema.ts';

export interface RunLabels {
  option_set?: string;
  scenario_id?: string;
  repetition?: number;
  input_set_id?: string;
  /** Of a run of an ensemble. */
  run_group_id?: string;
}

export function parseLabels({ labels }: Pick<RunsTable, 'labels'>): RunLabels {
  return labels === null ? {} : (JSON.parse(labels) as RunLabels);
}
