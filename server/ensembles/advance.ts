/**
 * Takes runs of ensembles a step further: cancels what one consists of when it is to be canceled, and ends it once all of
 * that has ended, with what the rules find.
 *
 * What must stay true: the end, its event and its share of the best run's output and assets are one transaction, which does
 * nothing when the run has ended or is gone. So it may be looked at by any number of processes, and killed at any statement.
 */

import { ENSEMBLE_RUNS_MAX, ERROR_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { AssetId } from '@switchyard/contract/schemas/ids.ts';
import { ContentRemovedError, type Contents, type SharedContent } from '../blobs/contents.ts';
import type { Database, Writer } from '../database/database.ts';
import { defineJob, type Job, type JobContext } from '../jobs/define-job.ts';
import { makeId, type Random } from '../random.ts';
import { cancelRun } from '../runs/execute/cancel-and-delete.ts';
import { EnsembleLogMerger } from '../runs/logs/ensemble-log.ts';
import { ALL_ASSETS, insertAssets, listAssets, type PreparedAsset } from '../runs/store/assets.ts';
import {
  listChildRuns,
  listReadyEnsembleRuns,
  listUnfinishedChildRuns,
} from '../runs/store/ensemble-runs.ts';
import {
  hasWaitingPlannedRuns,
  listPlannedRuns,
  removePlannedRuns,
  removeWaitingPlannedRuns,
} from '../runs/store/planned-runs.ts';
import { findRun } from '../runs/store/runs.ts';
import type { RunsTable } from '../runs/store/schema.ts';
import { endEnsembleRun, type FinalColumns } from '../runs/store/transitions.ts';
import type { EnsembleDefinition } from './definition.ts';
import { buildCanceledResult, collectOutcomes, formatFailure, selectBestRun } from './select-best-run.ts';

const BATCH_SIZE = 16;
const INTERVAL_MS = 5000;

interface Given extends JobContext {
  database: Database;
  contents: Contents;
  random: Random;
}

interface Parts extends Given {
  logs: EnsembleLogMerger;
}

/** Cancels the child runs of canceled ensemble runs and ends ensemble runs whose child runs have ended. */
export function advanceEnsemblesJob(given: Given): Job {
  const { database } = given;
  const parts: Parts = { ...given, logs: new EnsembleLogMerger(given) };
  return defineJob<RunsTable>(given, {
    name: 'advance-ensembles',
    intervalMs: INTERVAL_MS,
    wakeOn: ['runs-ended', 'runs-canceled', 'runs-planned'],
    batchSize: BATCH_SIZE,
    listRows: (limit, after) => listReadyEnsembleRuns(database.read, after?.id ?? null, limit),
    formatKey: (run) => run.id,
    handleRow: (run) => advance(parts, run),
    isParallel: true,
  });
}

async function advance(parts: Parts, run: RunsTable): Promise<void> {
  try {
    if (run.cancel_requested_at !== null && !(await hasCanceled(parts, run))) return;
    if (await end(parts, run)) parts.database.notify('runs-ended');
  } catch (error) {
    // The best run was deleted after it had been found. That is news, and without it another is the best.
    if (!(error instanceof ContentRemovedError)) throw error;
  }
}

/** Cancels what the run consists of; whether all of it has ended. */
async function hasCanceled(parts: Parts, run: RunsTable): Promise<boolean> {
  const { database } = parts;
  // While its last runs end it is looked at again and again: it costs no transaction then.
  if (await hasWaitingPlannedRuns(database.read, run.id))
    await database.transact((tx) => removeWaitingPlannedRuns(tx, run.id));
  for (const child of await listUnfinishedChildRuns(database.read, run.id))
    if (child.cancel_requested_at === null) await cancelRun(parts, child);
  return (await listUnfinishedChildRuns(database.read, run.id)).length === 0;
}

/** Whether it was this that ended the run. */
async function end(parts: Parts, run: RunsTable): Promise<boolean> {
  const { database, clock } = parts;
  const definition = JSON.parse(run.ensemble ?? '') as EnsembleDefinition;
  const refused = await listPlannedRuns(database.read, run.id, { refused: true, limit: ENSEMBLE_RUNS_MAX });
  const outcomes = collectOutcomes(
    definition,
    await listChildRuns(database.read, run.id),
    new Map(refused.map((row) => [row.position, row.error])),
  );
  const canceled = run.cancel_requested_at !== null;
  const result = canceled ? buildCanceledResult(outcomes) : selectBestRun(definition, outcomes);
  const finished_at = Math.max(clock.now(), run.created_at);
  const rules_result = JSON.stringify(result);
  const best =
    result.best_run_id &&
    (await findRun(database.read, run.application_uid, result.best_run_id as RunsTable['id']));
  if (result.best_run_id && !best)
    throw new ContentRemovedError(`The run ${result.best_run_id} was deleted.`);
  const taken = best ? await take(parts, best, finished_at) : null;
  const log = await parts.logs.prepare(run);
  const logged = { log_content_id: log?.id ?? null };
  const ending: FinalColumns = taken
    ? { ...taken.columns, ...logged, status: 'succeeded', finished_at, rules_result }
    : {
        status: canceled ? 'canceled' : 'failed',
        error: (canceled ? 'The run was canceled.' : formatFailure(result)).slice(0, ERROR_CHARS_MAX),
        ...logged,
        finished_at,
        rules_result,
      };
  const write = async (tx: Writer): Promise<boolean> => {
    if (!(await endEnsembleRun(tx, run, { canceled }, ending))) return false;
    for (const content of taken?.contents ?? []) await content.insert(tx);
    await log?.insert(tx);
    await insertAssets(tx, run.id, taken?.assets ?? []);
    await removePlannedRuns(tx, run.id, ENSEMBLE_RUNS_MAX);
    return true;
  };
  let written = false;
  try {
    written = await database.transact(write);
    return written;
  } finally {
    if (!written) await log?.discard();
  }
}

interface Taken {
  columns: Partial<RunsTable>;
  contents: SharedContent[];
  assets: PreparedAsset[];
}

/** What the ensemble has of its best run, under names of its own. */
async function take({ database, contents, random }: Parts, best: RunsTable, now: number): Promise<Taken> {
  const shared: SharedContent[] = [];
  const share = async (id: string): Promise<SharedContent> => {
    const content = await contents.share(id);
    if (!content) throw new ContentRemovedError(`The content ${id} was removed meanwhile.`);
    shared.push(content);
    return content;
  };
  const output = best.output_content_id === null ? null : await share(best.output_content_id);
  const assets: PreparedAsset[] = [];
  for (const { name, description, visual, bytes, content_id } of await listAssets(
    database.read,
    best.id,
    ALL_ASSETS,
  )) {
    const content = await share(content_id);
    const id = makeId<AssetId>(random, 'asset');
    assets.push({
      row: { id, name, description, visual, bytes, content_id: content.id, created_at: now },
      content,
    });
  }
  const columns = {
    output_format: best.output_format,
    output_content_id: output?.id ?? null,
    output_bytes: best.output_bytes,
    execution_ms: best.execution_ms,
    statistics_status: best.statistics_status,
    statistics_error: best.statistics_error,
    indicators: best.indicators,
    statistics: best.statistics,
    metrics: best.metrics,
    metrics_error: best.metrics_error,
    assets_error: best.assets_error,
  };
  return { columns, contents: shared, assets };
}
