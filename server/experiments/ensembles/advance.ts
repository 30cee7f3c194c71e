/**
 * Advances ensemble runs: cancels the child runs of a canceled one, and ends one whose child runs have ended, with the
 * result of the rules.
 *
 * Invariant: one transaction writes the end, its event and the references to the best run's output and assets. It does
 * nothing when the run has ended or was deleted. So several processes can handle a run, and a crash loses nothing.
 */

import { ENSEMBLE_RUNS_MAX, ERROR_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { AssetId } from '@switchyard/contract/schemas/ids.ts';
import { ContentRemovedError, type Contents, type SharedContent } from '../../platform/blobs/contents.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { makeId, type Random } from '../../platform/random.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import { cancelRun } from '../../runs/execute/cancel-and-delete.ts';
import { EnsembleLogMerger } from '../../runs/logs/ensemble-log.ts';
import { parseEnsemble } from '../../runs/run-columns.ts';
import { ALL_ASSETS, insertAssets, listAssets, type PreparedAsset } from '../../runs/store/assets.ts';
import {
  listChildRuns,
  listReadyEnsembleRuns,
  listTimedChildRuns,
  listUnfinishedChildRuns,
} from '../../runs/store/ensemble-runs.ts';
import {
  hasWaitingPlannedRuns,
  listPlannedRuns,
  removePlannedRuns,
  removeWaitingPlannedRuns,
} from '../../runs/store/planned-runs.ts';
import { findRun } from '../../runs/store/runs.ts';
import type { RunsTable } from '../../runs/store/schema.ts';
import { endEnsembleRun, type FinalColumns } from '../../runs/store/transitions.ts';
import { recordEndedRun } from '../../runs/tracing/run-spans.ts';
import { computeGain } from './compute-gain.ts';
import { computeUsage } from './compute-usage.ts';
import { buildCanceledResult, collectOutcomes, formatFailure, selectBestRun } from './select-best-run.ts';

const BATCH_SIZE = 16;
const INTERVAL_MS = 5000;

interface AdvanceContext extends JobContext {
  database: Database;
  contents: Contents;
  random: Random;
  tracing: Tracing | null;
}

interface AdvanceParts extends AdvanceContext {
  logs: EnsembleLogMerger;
}

/** Defines the job that cancels the child runs of canceled ensemble runs and ends those whose child runs have ended. */
export function advanceEnsemblesJob(context: AdvanceContext): Job {
  const { database } = context;
  const parts: AdvanceParts = { ...context, logs: new EnsembleLogMerger(context) };
  return defineJob<RunsTable>(context, {
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

async function advance(parts: AdvanceParts, run: RunsTable): Promise<void> {
  try {
    if (run.cancel_requested_at !== null && !(await cancelChildRuns(parts, run))) return;
    if (!(await endRun(parts, run))) return;
    parts.database.notify('runs-ended');
    await recordEndedRun(parts, run);
  } catch (error) {
    // The best run was deleted after the rules selected it: the next pass selects among the remaining runs.
    if (!(error instanceof ContentRemovedError)) throw error;
  }
}

/** Removes the planned runs and cancels the child runs. Returns true when all child runs have ended. */
async function cancelChildRuns(parts: AdvanceParts, run: RunsTable): Promise<boolean> {
  const { database } = parts;
  // The job handles the run at every pass until its last child run ends: those passes need no transaction.
  if (await hasWaitingPlannedRuns(database.read, run.id))
    await database.transact((tx) => removeWaitingPlannedRuns(tx, run.id));
  for (const child of await listUnfinishedChildRuns(database.read, run.id))
    if (child.cancel_requested_at === null) await cancelRun(parts, child);
  return (await listUnfinishedChildRuns(database.read, run.id)).length === 0;
}

/** Ends the run with the result of its rules. Returns false when it has ended already. */
async function endRun(parts: AdvanceParts, run: RunsTable): Promise<boolean> {
  const { database, clock } = parts;
  const definition = parseEnsemble(run);
  if (definition === null) throw new TypeError(`runs.ensemble of id ${run.id} is null.`);
  const refused = await listPlannedRuns(database.read, run.id, { refused: true, limit: ENSEMBLE_RUNS_MAX });
  const children = await listChildRuns(database.read, run.id);
  const outcomes = collectOutcomes(
    definition,
    children,
    new Map(refused.map((row) => [row.position, row.error])),
  );
  const isCanceled = run.cancel_requested_at !== null;
  const result = isCanceled ? buildCanceledResult(outcomes) : selectBestRun(definition, outcomes);
  const gain = computeGain(definition, outcomes, result.best_run_id);
  const finished_at = Math.max(clock.now(), run.created_at);
  const measured = computeUsage(await listTimedChildRuns(database.read, run.id));
  const rules_result = JSON.stringify({
    ...result,
    ...(gain === null ? {} : { gain }),
    ...(measured === null ? {} : { usage: measured.usage }),
  });
  const bestId = children.find((child) => child.id === result.best_run_id)?.id;
  const best = bestId && (await findRun(database.read, run.application_uid, bestId));
  if (bestId && !best) throw new ContentRemovedError(`The run ${bestId} was deleted.`);
  const copy = best ? await copyBestRun(parts, best, finished_at) : null;
  const log = await parts.logs.prepare(run);
  const start_conditions = measured?.startConditions ?? null;
  const common = { log_content_id: log?.id ?? null, finished_at, rules_result, start_conditions };
  const ending: FinalColumns = copy
    ? { ...copy.columns, ...common, status: 'succeeded' }
    : {
        status: isCanceled ? 'canceled' : 'failed',
        error: (isCanceled ? 'The run was canceled.' : formatFailure(result)).slice(0, ERROR_CHARS_MAX),
        ...common,
      };
  const write = async (tx: Writer): Promise<boolean> => {
    if (!(await endEnsembleRun(tx, run, { canceled: isCanceled }, ending))) return false;
    for (const content of copy?.contents ?? []) await content.insert(tx);
    await log?.insert(tx);
    await insertAssets(tx, run.id, copy?.assets ?? []);
    await removePlannedRuns(tx, run.id, ENSEMBLE_RUNS_MAX);
    return true;
  };
  let isWritten = false;
  try {
    isWritten = await database.transact(write);
    return isWritten;
  } finally {
    if (!isWritten) await log?.discard();
  }
}

interface BestRunCopy {
  columns: Partial<RunsTable>;
  contents: SharedContent[];
  assets: PreparedAsset[];
}

/** Copies the results of the best run. The ensemble run shares the contents under its own ids, so the best run can be deleted. */
async function copyBestRun(
  { database, contents, random }: AdvanceParts,
  best: RunsTable,
  now: number,
): Promise<BestRunCopy> {
  const shared: SharedContent[] = [];
  const share = async (id: string): Promise<SharedContent> => {
    const content = await contents.share(id);
    if (!content) throw new ContentRemovedError(`The content ${id} of the best run was deleted.`);
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
