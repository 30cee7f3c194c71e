/** Reads the runs of an experiment in batches. Runs whose creation failed count as failed. */
import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader } from '../../platform/database/database.ts';
import { type LabelledRow, parseLabels, parseStartConditions } from '../../runs/run-columns.ts';
import { listDeletedRuns } from '../../runs/store/deleted-runs.ts';
import { findRunSeries, listObservedRuns, type ObservedRun } from '../../runs/store/experiment-runs.ts';
import { listPlannedRuns } from '../../runs/store/planned-runs.ts';
import type { DeletedExperimentRunsTable, PlannedRunsTable } from '../../runs/store/schema.ts';
import type { RunStart } from '../statistics/observations.ts';
import { findInputProperties, type InputProperties } from '../store/input-properties.ts';
import { addTotalDuration, readEnsembleFields, readEnsembleStart } from './ensemble-runs.ts';
import type { RawObservation } from './run-reader.ts';

const BATCH_SIZE = 250;

interface ReadSettings {
  series: boolean;
  ensembles?: boolean;
  deleted?: boolean;
}

/**
 * Reads every run of the experiment. Other requests get processor time between two batches. `versions` maps each instance
 * to its version at the creation of the experiment; a run whose creation failed counts for that version. With `series`,
 * it reads the time series of the runs too; with `ensembles`, every run gets the indicator of its cost. With `deleted`, it
 * returns deleted runs too, with the status `deleted`.
 */
export async function* readObservations(
  db: Reader,
  experimentUid: string,
  versions: ReadonlyMap<string, string> = new Map(),
  { series, ensembles = false, deleted = false }: ReadSettings = { series: false },
): AsyncGenerator<RawObservation[]> {
  const describe = indexProperties(await findInputProperties(db, experimentUid));
  for (let after: RunId | null = null; ; ) {
    const rows: ObservedRun[] = await listObservedRuns(db, experimentUid, after, BATCH_SIZE);
    const found = series
      ? await findRunSeries(
          db,
          rows.map(({ id }) => id),
        )
      : new Map<RunId, string>();
    if (rows.length > 0)
      yield rows.map((row) => ({
        ...toRawObservation(row, found.get(row.id)),
        ...(ensembles ? { indicators: addTotalDuration(row) } : {}),
        ...describe(row),
      }));
    after = rows.at(-1)?.id ?? null;
    if (rows.length < BATCH_SIZE) break;
    await setImmediate();
  }
  for (let after = -1; ; ) {
    const rows = await listPlannedRuns(db, experimentUid, { refused: true, limit: BATCH_SIZE, after });
    if (rows.length > 0) yield rows.map((row) => ({ ...formatRefusedRun(row, versions), ...describe(row) }));
    if (rows.length < BATCH_SIZE) break;
    after = rows.at(-1)?.position ?? after;
    await setImmediate();
  }
  // They come last, so that a run that is deleted meanwhile is read twice, not missed.
  for (let after: RunId | null = null; deleted; ) {
    const rows: DeletedExperimentRunsTable[] = await listDeletedRuns(db, experimentUid, after, BATCH_SIZE);
    if (rows.length > 0) yield rows.map((row) => ({ ...formatDeletedRun(row), ...describe(row) }));
    after = rows.at(-1)?.run_id ?? null;
    if (rows.length < BATCH_SIZE) return;
    await setImmediate();
  }
}

type DescribedRow = Pick<ObservedRun, 'input_id'> & LabelledRow;

/** Returns the function that finds clusters and features of a run's input. A run that joined the batch has neither. */
function indexProperties(
  properties: readonly InputProperties[],
): (row: DescribedRow) => Pick<RawObservation, 'clusters' | 'features'> {
  if (properties.length === 0) return () => ({});
  const formatKey = (set: string | undefined, input: string | null) => JSON.stringify([set, input]);
  const byInput = new Map(
    properties.map(({ input_set_id, input_id, clusters, features }) => [
      formatKey(input_set_id, input_id),
      { clusters, features },
    ]),
  );
  return (row) => byInput.get(formatKey(parseLabels(row).input_set_id, row.input_id)) ?? {};
}

/** Formats a run. A run without a managed input is its own input, so that it forms no pair. */
function toRawObservation(run: ObservedRun, series: string | undefined): RawObservation {
  return {
    ...formatLabels(run),
    ...readEnsembleFields(run),
    run_id: run.id,
    input_id: run.input_id ?? run.id,
    content: run.input_sha256,
    status: run.status,
    indicators: run.indicators,
    // The incumbents of the best run of an ensemble are not those of the ensemble.
    ...(series === undefined || run.definition_id !== null ? {} : { series }),
    start: formatStart(run),
    ...(run.definition_id === null && run.labels !== null ? { setup: hashSetup(run) } : {}),
  };
}

/** Returns a hash, because the options may be confidential and thousands of runs are held in memory. */
function hashSetup(run: ObservedRun): string {
  const { executable_id, options_summary, execution_class, network, secrets_collection_id } = run;
  return hash(
    'sha256',
    JSON.stringify([executable_id, options_summary, execution_class, network, secrets_collection_id]),
    'base64',
  );
}

function formatStart(run: ObservedRun): RunStart | null {
  const conditions = parseStartConditions(run);
  if (conditions === null) return null;
  const ensemble = readEnsembleStart(run);
  if (ensemble) return { ...ensemble, ...conditions };
  return run.initiated_at === null ? null : { started_at: run.initiated_at, ...conditions };
}

function formatRefusedRun(row: PlannedRunsTable, versions: ReadonlyMap<string, string>): RawObservation {
  return {
    ...formatLabels(row),
    ...(row.definition_id === null ? {} : { ensemble_id: row.definition_id }),
    version_id: row.version_id || (versions.get(row.instance_id) ?? ''),
    input_id: row.input_id ?? '',
    status: 'failed',
    indicators: '[]',
  };
}

function formatDeletedRun(run: DeletedExperimentRunsTable): RawObservation {
  return {
    ...formatLabels(run),
    ...(run.definition_id === null ? {} : { ensemble_id: run.definition_id }),
    input_id: run.input_id ?? run.run_id,
    status: 'deleted',
    indicators: '[]',
  };
}

function formatLabels(row: Pick<ObservedRun, 'instance_id' | 'version_id'> & LabelledRow) {
  const { option_set, scenario_id, repetition, block } = parseLabels(row);
  return {
    instance_id: row.instance_id,
    version_id: row.version_id,
    option_set: option_set ?? null,
    scenario_id: scenario_id ?? null,
    repetition: repetition ?? null,
    block: block ?? null,
    ...(row.labels === null ? { is_joined: true } : {}),
  };
}
