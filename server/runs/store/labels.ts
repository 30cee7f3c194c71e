/** Labels by which the owner of a run, an experiment or an ensemble run, identifies it. Stored when the run is planned. */
import type { RunsTable } from './schema.ts';

export interface RunLabels {
  option_set?: string;
  scenario_id?: string;
  repetition?: number;
  input_set_id?: string;
  /** Number of the randomised block of a run of a batch, from 0; absent for other runs. */
  block?: number;
  /** Of a run of an ensemble. */
  run_group_id?: string;
  /** Of a run in a unit of a candidate that refused it, so that the baseline executes it. */
  candidate_refused?: boolean;
  /** Why it refused the run, without the names of options that are hidden from any role. */
  candidate_refusal?: string;
}

/** Parses the labels column; without labels the object is empty. */
export function parseLabels({ labels }: Pick<RunsTable, 'labels'>): RunLabels {
  return labels === null ? {} : (JSON.parse(labels) as RunLabels);
}
