/** The operations on replays. */

import { ReplayComparison, type RunReplay } from '@switchyard/contract/runs/replays.ts';
import { getApplication } from '../../apps/applications/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { findStartingKey } from '../../platform/http/handlers/run-scope.ts';
import { formatPage, parsePageRequest, slicePage } from '../../platform/http/lists/pagination.ts';
import { formatReadableRows } from '../../platform/http/lists/readable-rows.ts';
import { type ListedReplay, listReplays } from '../replay/replays-store.ts';
import { submitReplay } from '../replay/submit-replay.ts';
import { getOwnRun } from './own-run.ts';

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
