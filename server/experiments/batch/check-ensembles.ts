/** Checks the ensembles among the runs of a batch, and reads the definitions that the batch stores. */
import { BATCH_RUNS_MAX } from '@switchyard/contract/limits.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import { listHiddenOptions } from '../../apps/applications/executable.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import type { Reader } from '../../platform/database/database.ts';
import { badRequest, Problem, quoteValue } from '../../platform/http/errors/problem.ts';
import type { EnsembleDefinition } from '../../runs/run-columns.ts';
import { listRequestedChildRuns, parseEnsembleDefinition } from '../ensembles/definition.ts';
import { type ResolvedRunGroups, resolveRunGroups } from '../ensembles/start.ts';
import { findEnsemble } from '../ensembles/store.ts';
import type { RequestedRun } from '../operations/plan-run.ts';
import type { BatchRequest } from './parse-batch-request.ts';

/** An ensemble of a batch. */
export interface BatchEnsemble {
  definition: EnsembleDefinition;
  /** The definition as the table of ensembles stores it. */
  json: string;
  /** Number of child runs of one of its runs. */
  childRuns: number;
}

/** Returns the ensembles that the request names, by id. Throws a 400 for a missing ensemble. */
export async function readEnsembles(
  db: Reader,
  application: ApplicationsTable,
  { runs }: Pick<BatchRequest, 'runs'>,
): Promise<Map<string, BatchEnsemble>> {
  const ensembles = new Map<string, BatchEnsemble>();
  for (const { field, ensemble_id } of runs) {
    if (ensemble_id === '' || ensembles.has(ensemble_id)) continue;
    const row = await findEnsemble(db, application.uid, ensemble_id);
    if (!row)
      throw badRequest(
        `${field}.ensemble_id is ${quoteValue(ensemble_id)}; it must be an ensemble of this application.`,
      );
    const definition = parseEnsembleDefinition(row);
    const childRuns = listRequestedChildRuns(definition).length;
    ensembles.set(ensemble_id, { definition, json: row.definition, childRuns });
  }
  return ensembles;
}

/** Throws a 400 for more runs than a batch may have. An ensemble counts as its child runs, which take the slots. */
export function checkRunCount(
  runs: readonly RequestedRun[],
  ensembles: ReadonlyMap<string, BatchEnsemble>,
): void {
  const count = runs.reduce((sum, run) => sum + (ensembles.get(run.ensemble_id)?.childRuns ?? 1), 0);
  if (count > BATCH_RUNS_MAX)
    throw badRequest(
      `runs expands to ${count} runs, with the child runs of its ensembles; a batch experiment may have at most ${BATCH_RUNS_MAX}. Request fewer.`,
    );
}

/** A planned ensemble run. */
interface PlannedEnsembleCheck {
  application: ApplicationsTable;
  run: RequestedRun;
  definition: EnsembleDefinition;
  options: Record<string, string>;
  format: FormatType;
  /** The role of the caller. Error messages do not name options that are hidden from it. */
  role: Role;
}

/** Returns the run groups of a planned ensemble run. Throws a 400 for a definition that cannot run on the input. */
export async function checkPlannedEnsemble(
  db: Reader,
  { application, run, definition, options, format, role }: PlannedEnsembleCheck,
): Promise<ResolvedRunGroups> {
  const resolved = await resolveGroups(db, { application, run, definition, options, format, role });
  const accepted = resolved.formats.input;
  if (accepted !== format)
    throw badRequest(
      `The input ${quoteValue(run.input_id)} of the input set ${quoteValue(run.input_set_id)} has the format ${format}; the apps of the ensemble ${quoteValue(run.ensemble_id)} take ${accepted}.`,
    );
  return resolved;
}

async function resolveGroups(
  db: Reader,
  { application, run, definition, options, format, role }: PlannedEnsembleCheck,
): Promise<ResolvedRunGroups> {
  try {
    return await resolveRunGroups(db, {
      ...{ application, definition, options },
      definitionId: run.ensemble_id,
      configuration: {},
      inputFormat: format,
      hiddenOptions: (executable) => listHiddenOptions(executable, role),
    });
  } catch (error) {
    if (!(error instanceof Problem) || run.option_set === null) throw error;
    throw badRequest(`With option_sets.${run.option_set}: ${error.message}`);
  }
}
