/** Formats the fields that experiments of every kind share: description, progress, runs, and runs whose creation failed. */
import type { ExperimentRun, RefusedRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import { REFUSED_RUNS_EMBEDDED_MAX } from '@switchyard/contract/limits.ts';
import { findHiddenOptions } from '../../apps/applications/executables-store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import { experimentRunBody } from '../../runs/api/run-body.ts';
import { parseLabels } from '../../runs/run-columns.ts';
import { countExperimentRuns, type ExperimentCounts } from '../../runs/store/experiment-runs.ts';
import { listPlannedRuns } from '../../runs/store/planned-runs.ts';
import type { ListedRun } from '../../runs/store/runs.ts';
import type { ExperimentsTable } from '../store/schema.ts';

/** Formats the fields that `experimentFields` of the contract describes. */
export function formatExperiment(experiment: ExperimentsTable) {
  return {
    id: experiment.id,
    app_id: experiment.application_id,
    name: experiment.name,
    description: experiment.description,
    status: experiment.status,
    created_at: formatRfc3339(experiment.created_at),
    updated_at: formatRfc3339(experiment.updated_at),
  };
}

/** Counts the runs of the experiments. Returns a function that returns the counts of one of them. */
export async function countRunsByExperiment(
  db: Reader,
  experiments: readonly Pick<ExperimentsTable, 'uid'>[],
): Promise<(experiment: Pick<ExperimentsTable, 'uid'>) => ExperimentCounts> {
  const counts = await countExperimentRuns(
    db,
    experiments.map((one) => one.uid),
  );
  return ({ uid }) => counts.get(uid) ?? { statuses: {}, planned: 0, refused: 0 };
}

/** Formats the fields that `experimentProgressFields` of the contract describes. */
export function formatProgress(
  { requested }: Pick<ExperimentsTable, 'requested'>,
  { statuses, planned, refused }: ExperimentCounts,
) {
  const { succeeded = 0, failed = 0, canceled = 0 } = statuses;
  return {
    number_of_requested_runs: requested,
    number_of_runs: Object.values(statuses).reduce((total, count) => total + count, planned),
    number_of_completed_runs: succeeded + failed + canceled,
    number_of_failed_runs: failed + refused,
  };
}

/** Formats the runs without the options that are hidden from the caller's role. */
export async function formatExperimentRuns(
  db: Reader,
  caller: Caller,
  runs: readonly ListedRun[],
): Promise<ExperimentRun[]> {
  const ids = runs.map((run) => run.executable_id);
  const listHidden = await findHiddenOptions(db, ids, caller.role);
  return runs.map((run) => experimentRunBody(run, listHidden(run.executable_id)));
}

/** Lists the first runs whose creation failed, REFUSED_RUNS_EMBEDDED_MAX at most. */
export async function listRefusedRuns(db: Reader, { uid }: ExperimentsTable): Promise<RefusedRun[]> {
  const rows = await listPlannedRuns(db, uid, { refused: true, limit: REFUSED_RUNS_EMBEDDED_MAX });
  return rows.map((row) => {
    const { option_set, scenario_id, repetition, input_set_id } = parseLabels(row);
    return {
      instance_id: row.instance_id,
      version_id: row.version_id,
      ...(row.definition_id === null ? {} : { ensemble_id: row.definition_id }),
      // The input of a copy is its original.
      input_id: row.parent_run_id ?? row.input_id ?? '',
      input_set_id: input_set_id ?? null,
      option_set: option_set ?? null,
      scenario_id: scenario_id ?? null,
      repetition: repetition ?? null,
      error: row.error,
    };
  });
}
