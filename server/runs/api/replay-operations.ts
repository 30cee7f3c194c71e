/** The operations on replays. */
import { ReplayComparison, type RunReplay } from '@switchyard/contract/runs/replays.ts';
import type { KeyId } from '@switchyard/contract/schemas/ids.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { lockExecutable } from '../../apps/applications/executables-store.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { getApplication } from '../../apps/applications/store.ts';
import { hasCollection } from '../../apps/secrets/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { findStartingKey } from '../../platform/http/handlers/run-scope.ts';
import { formatPage, parsePageRequest, slicePage } from '../../platform/http/lists/pagination.ts';
import { formatReadableRows } from '../../platform/http/lists/readable-rows.ts';
import { makeId } from '../../platform/random.ts';
import { insertReplay, type ListedReplay, listReplays } from '../replay/replays-store.ts';
import type { RunsTable } from '../store/schema.ts';
import { NOT_STARTED } from '../submit/not-started.ts';
import { sharePreviousOutput } from '../submit/previous-output.ts';
import { shareInput } from '../submit/share-input.ts';
import { insertInTransaction, type SubmitParts } from '../submit/submit.ts';
import { formatTrace, type TracedRequest } from '../tracing/run-trace.ts';
import { getOwnRun } from './own-run.ts';

const INPUT_REMOVED_MESSAGE = 'The input of the run was deleted before it could be replayed.';

export const replayRun: OperationHandler<'replayRun'> = async (context, call) => {
  const { caller, params, body, commit, trace } = call;
  const original = await getOwnRun(context, caller, params);
  const application = await getApplication(context.database.read, caller.account, params.application_id);
  await context.coreHourLimiter.requireHours(caller.account, params.application_id);
  const committed = await submitReplay(
    {
      ...context,
      store: (insert, options) =>
        commit(async (tx) => ({ status: 202, body: { run_id: (await insert(tx)).id } }), options),
    },
    {
      ...{ application, original, email: caller.email, key: findStartingKey(caller) },
      ...{ name: body?.name, description: body?.description, trace },
    },
  );
  context.metrics.runsSubmitted.inc();
  return committed;
};

export const listRunReplays: OperationHandler<'listRunReplays'> = async (
  context,
  { caller, params, query },
) => {
  const { database, pageTokens, log } = context;
  const run = await getOwnRun(context, caller, params);
  const tokenScope = `replays ${run.id}`;
  const { after, limit } = parsePageRequest(pageTokens, tokenScope, query);
  const rows = await listReplays(database.read, run.id, { after, limit });
  const page = slicePage(rows, limit, (row) => ({ at: row.created_at, id: row.run_id }));
  const items = await formatReadableRows(log, page.items, (replays) => replays.map(replayBody));
  return { status: 200, body: formatPage(pageTokens, tokenScope, { ...page, items }) };
};

const parseComparison = parseColumn('run_replays', 'run_id', 'comparison', ReplayComparison);

function replayBody(row: ListedReplay): RunReplay {
  const body = {
    run_id: row.run_id,
    original_run_id: row.original_run_id,
    created_at: formatRfc3339(row.created_at),
    user_email: row.user_email,
    status_v2: row.status,
  };
  const comparison = parseComparison(row);
  return comparison === null ? body : { ...body, comparison };
}

interface ReplayRequest extends TracedRequest {
  application: ApplicationsTable;
  original: RunsTable;
  email: string;
  key: KeyId | null;
  /** Absent or null: that of the original. */
  name?: string | null | undefined;
  description?: string | null | undefined;
}

/**
 * Creates the replay, which is queued. Throws a 400 for a run that cannot be replayed. Nothing is resolved again, so
 * that later changes to the instance, the version or the defaults of the app do not count.
 */
async function submitReplay<R>(
  parts: SubmitParts<R> & Pick<Context, 'contents'>,
  request: ReplayRequest,
): Promise<R> {
  const { database, contents, clock, random } = parts;
  const { application, original } = request;
  rejectUnrepeatable(original);
  await requireSecrets(database.read, original);
  const input = await shareInput(contents, original.input_content_id, INPUT_REMOVED_MESSAGE);
  const previous = await sharePreviousOutput(contents, original);
  const run: RunsTable = {
    ...original,
    ...NOT_STARTED,
    id: makeId<RunsTable['id']>(random, 'run'),
    created_at: clock.now(),
    status: 'queued',
    user_email: request.email,
    created_by_key: request.key,
    name: request.name ?? original.name,
    description: request.description ?? original.description,
    reference_id: null,
    // The caller waits for no slot: a 429 would tell nothing about the original.
    queuing_disabled: 0,
    input_content_id: input.id,
    previous_content_id: previous?.content.id ?? null,
    cloned_run_id: original.id,
    experiment_uid: null,
    experiment_id: null,
    experiment_type: null,
    child_of_experiment: null,
    plan_unit_index: null,
    parent_run_id: null,
    workflow: null,
    workflow_depth: 0,
    labels: null,
    ...formatTrace(request),
  };
  const stored = await insertInTransaction(
    parts,
    { application, previous },
    {
      run,
      input,
      lockExecutable: requireExecutable,
      insertFurther: (tx) =>
        insertReplay(tx, {
          run_id: run.id,
          application_uid: run.application_uid,
          original_run_id: original.id,
          created_at: run.created_at,
        }),
    },
  );
  database.notify('runs-queued');
  return stored;
}

function rejectUnrepeatable({ id, run_type, status }: RunsTable): void {
  if (run_type !== 'standard')
    throw badRequest(
      run_type === 'external'
        ? `The run ${quoteValue(id)} is external: its program was executed elsewhere. Execute it there again.`
        : `The run ${quoteValue(id)} is the run of an ensemble. Replay one of its child runs, or create the run again.`,
    );
  if (!isTerminal(status))
    throw badRequest(`The run ${quoteValue(id)} is ${status}; a replay repeats a run that has ended.`);
}

async function requireSecrets(db: Reader, original: RunsTable): Promise<void> {
  const { secrets_collection_id: id } = original;
  if (id === null || (await hasCollection(db, original.application_uid, id))) return;
  throw badRequest(
    `The secrets collection ${quoteValue(id)} of the run was deleted. Create it again before you replay the run.`,
  );
}

/** Locks the executable by itself, because its version may be deleted while the archive is still there. */
async function requireExecutable(tx: Writer, run: RunsTable): Promise<void> {
  if (await lockExecutable(tx, run.executable_id)) return;
  throw badRequest(
    `The executable ${quoteValue(run.executable_id)} of the run was removed, because no version and no application uses it any more. Push it again and create a run. To replay runs later, make a version of the executable.`,
  );
}
