/** The operations on runs. */
import { DIRECT_INPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { Body } from '@switchyard/contract/operation.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isActionAllowed, isTerminal } from '@switchyard/contract/states.ts';
import { listHiddenOptions } from '../../apps/applications/executable.ts';
import { findExecutable } from '../../apps/applications/executables-store.ts';
import { getApplication, lockLiveApplication } from '../../apps/applications/store.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import {
  type Caller,
  formatCaller,
  type OperationCall,
  type OperationHandler,
} from '../../platform/http/handlers/handler.ts';
import { formatPage, parsePageRequest, slicePage } from '../../platform/http/lists/pagination.ts';
import { formatReadableRows } from '../../platform/http/lists/readable-rows.ts';
import { cancelInTransaction, notifyCanceled } from '../execute/cancel-and-delete.ts';
import { buildLogResponse, readLiveLog } from '../logs/run-logs.ts';
import { explainWaitingRun } from '../queue/explain-waiting.ts';
import { insertExternalResult, prepareResultOfRun, rejectResult } from '../results/external-result.ts';
import { findAsset, listAssets } from '../store/assets.ts';
import { findEnsembleStart } from '../store/ensemble-runs.ts';
import { findRun, updateNameAndDescription, updatePriority } from '../store/runs.ts';
import type { RunsTable } from '../store/schema.ts';
import { createChildRun } from '../submit/create-child-run.ts';
import { submitRequestedRun } from '../submit/create-run.ts';
import { recordEndedRun } from '../tracing/run-spans.ts';
import {
  assertInlineContent,
  contentTypeForFormat,
  createOutputUrl,
  decodeJsonInput,
  decodeTextInput,
  respondWithOutput,
} from './content-responses.ts';
import { getOwnRun } from './own-run.ts';
import { assetBody, runInformationBody } from './run-body.ts';

export const createRun: OperationHandler<'createRun'> = async (context, call) => {
  const { run } = call.caller;
  const committed = run
    ? await createChildRun(context, call, run)
    : await submitRequestedRun(context, call, {
        store: (insert, options) =>
          call.commit(async (tx) => ({ status: 202, body: { run_id: (await insert(tx)).id } }), options),
      });
  if (run) context.database.notify('slots-released');
  context.metrics.runsSubmitted.inc();
  return committed;
};
export const getRun: OperationHandler<'getRun'> = async (context, call) => {
  const { caller, query } = call;
  const run = await getAwaitedRun(context, call);
  return respondWithOutput(context, run, await readInformation(context, caller, run), query.format);
};

export const getRunMetadata: OperationHandler<'getRunMetadata'> = async (context, call) => {
  const run = await getAwaitedRun(context, call);
  return { status: 200, body: await readInformation(context, call.caller, run) };
};

/** Returns the run after the wait that the request asks for, if any. */
async function getAwaitedRun(
  context: Context,
  { caller, params, query, wait, onDisconnect }: OperationCall<'getRunMetadata'>,
): Promise<RunsTable> {
  const run = await getOwnRun(context, caller, params);
  const timeoutMs = (query.wait_seconds ?? 0) * 1000;
  if (timeoutMs === 0 || isTerminal(run.status)) return run;
  await wait(() => context.runWaits.wait({ run: run.id, timeoutMs, onDisconnect }));
  return getOwnRun(context, caller, params);
}

export const getRunInput: OperationHandler<'getRunInput'> = async (context, { caller, params, query }) => {
  const { contents, uploads } = context;
  const run = await getOwnRun(context, caller, params);
  if (query.format === 'url') {
    return {
      status: 200,
      body: { url: uploads.downloadUrl(run.input_content_id, contentTypeForFormat(run.input_format)) },
    };
  }
  assertInlineContent('input', run.input_format, run.input_bytes, DIRECT_INPUT_BYTES_MAX);
  const input = await contents.read(run.input_content_id);
  if (!input) throw notFound('The input was deleted.');
  const raw = run.input_format === 'text' ? JSON.stringify(decodeTextInput(input)) : decodeJsonInput(input);
  return { status: 200, raw, contentType: 'application/json; charset=utf-8' };
};

export const getRunOutput: OperationHandler<'getRunOutput'> = async (context, { caller, params, query }) => {
  const run = await getOwnRun(context, caller, params);
  const url = query.format === 'url' ? createOutputUrl(context, run) : null;
  // The URL is at the top level, as for the input, and also in place of the output.
  return respondWithOutput(context, run, url === null ? {} : { url }, query.format);
};

export const getRunLogs: OperationHandler<'getRunLogs'> = async (context, { caller, params }) => {
  const run = await getOwnRun(context, caller, params);
  if (!isActionAllowed('readLogs', run.status)) {
    throw badRequest(
      `The run is ${run.status}; its log can be read here once it has ended. Read logs/live until then.`,
    );
  }
  return buildLogResponse(context.contents, run.log_content_id);
};

export const getRunLiveLogs: OperationHandler<'getRunLiveLogs'> = async (
  context,
  { caller, params, query },
) => {
  const { database, logPollLimiter } = context;
  const request = {
    account: caller.account,
    application: params.application_id,
    id: params.run_id,
    since: query.since,
  };
  const schedulePoll = () => logPollLimiter.schedulePoll(formatCaller(caller));
  const body = await readLiveLog(database.read, request, schedulePoll);
  if (body) return { status: 200, body };
  // Throws the 404 for a missing application, or for a missing run.
  await getOwnRun(context, caller, params);
  throw notFound(`There is no run ${quoteValue(params.run_id)}.`);
};

export const listRunAssets: OperationHandler<'listRunAssets'> = async (
  context,
  { caller, params, query },
) => {
  const { database, pageTokens, log } = context;
  const run = await getOwnRun(context, caller, params);
  const tokenScope = `assets ${run.id}`;
  const { after, limit } = parsePageRequest(pageTokens, tokenScope, query);
  const rows = await listAssets(database.read, run.id, { after: after?.at ?? null, limit });
  const page = slicePage(rows, limit, ({ position, id }) => ({ at: position, id }));
  const items = await formatReadableRows(log, page.items, (assets) => assets.map(assetBody));
  return { status: 200, body: formatPage(pageTokens, tokenScope, { ...page, items }) };
};

export const getRunAsset: OperationHandler<'getRunAsset'> = async (context, { caller, params }) => {
  const run = await getOwnRun(context, caller, params);
  const asset = await findAsset(context.database.read, run.id, params.asset_id);
  if (!asset)
    throw notFound(`There is no asset ${quoteValue(params.asset_id)} of run ${quoteValue(run.id)}.`);
  const download_url = context.uploads.downloadUrl(asset.content_id, contentTypeForFormat('json'));
  return { status: 200, body: { ...assetBody(asset), type: 'json', download_url } };
};

export const updateRun: OperationHandler<'updateRun'> = async (
  context,
  { caller, params, body, commitThen },
) => {
  const run = await getOwnRun(context, caller, params);
  const result = body.result ? await prepareResultOfRun(context, run, body.result) : null;
  const committed = commitThen(
    async (tx) => {
      await writeRunChanges(tx, run, body);
      if (result) await insertExternalResult(tx, run, result);
    },
    async () => {
      if (result) context.database.notify('runs-ended');
      if (body.queuing_priority !== undefined) context.database.notify('runs-queued');
      const changed = await getOwnRun(context, caller, params);
      return { status: 200, body: await readInformation(context, caller, changed) };
    },
  );
  return result ? committed.catch((error: unknown) => rejectResult(error, result)) : committed;
};

export const cancelRun: OperationHandler<'cancelRun'> = async (context, { caller, params, commitThen }) => {
  const { database, clock } = context;
  const run = await getOwnRun(context, caller, params);
  return commitThen(
    (tx) => cancelInTransaction(tx, run, clock.now()),
    async (status) => {
      notifyCanceled(database, status);
      if (status === 'canceled') await recordEndedRun(context, run);
      return { status: 204 };
    },
  );
};

export const deleteRun: OperationHandler<'deleteRun'> = async (context, { caller, params, commitThen }) => {
  const { runDeletion } = context;
  const runs = [await getOwnRun(context, caller, params)];
  await runDeletion.removeLogLines(runs);
  return commitThen(
    (tx) => runDeletion.removeRows(tx, runs),
    async (removed) => {
      await runDeletion.finish(removed);
      return { status: 204 };
    },
  );
};

export const createRunUpload: OperationHandler<'createRunUpload'> = async (
  { database, uploads },
  { caller, params, commit },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  const { upload, insert } = uploads.prepare(application.uid, 'content', caller.key, caller.run?.id);
  return commit(async (tx) => {
    await lockLiveApplication(tx, application);
    await insert(tx);
    return { status: 200, body: upload };
  });
};

/** Returns the run without its content, and without the options that are hidden from the caller. */
async function readInformation(
  { database, clock, canProvision }: Pick<Context, 'database' | 'clock' | 'canProvision'>,
  caller: Caller,
  run: RunsTable,
): Promise<RunInformation> {
  const executable = await findExecutable(database.read, run.executable_id);
  const now = clock.now();
  const waiting =
    run.status === 'queued' ? await explainWaitingRun(database.read, run, now, canProvision) : null;
  const initiated_at =
    run.run_type === 'ensemble' ? await findEnsembleStart(database.read, run) : run.initiated_at;
  return runInformationBody(
    { ...run, initiated_at },
    listHiddenOptions(executable, caller.role),
    now,
    waiting,
  );
}

type RunChanges = Pick<Body<Operations['updateRun']>, 'name' | 'description' | 'queuing_priority'>;

/** Writes the changed fields of the run. Throws a 400 for a priority that cannot change, and a 404 for a deleted run. */
async function writeRunChanges(tx: Writer, run: RunsTable, changes: RunChanges): Promise<void> {
  // Only fields in the request are written, so that concurrent changes of other fields are kept.
  const names = {
    ...(typeof changes.name === 'string' ? { name: changes.name } : {}),
    ...(typeof changes.description === 'string' ? { description: changes.description } : {}),
  };
  const priority = changes.queuing_priority ?? run.priority;
  // Clients send the whole object, so an unchanged priority is accepted.
  if (priority !== run.priority && !(await updatePriority(tx, run.id, priority))) {
    if (!(await findRun(tx, run.application_uid, run.id)))
      throw notFound(`There is no run ${quoteValue(run.id)}: another request deleted it.`);
    throw badRequest(
      `queuing_priority is ${priority}, and that of the run is ${run.priority}; only a queued run changes its place.`,
    );
  }
  await updateNameAndDescription(tx, run.id, names);
}
