/** The list of the runs of an application, as pages of JSON or whole as CSV. */
import { PAGE_ITEMS_MAX } from '@switchyard/contract/limits.ts';
import type { Query } from '@switchyard/contract/operation.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { getApplication } from '../../apps/applications/store.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { formatCaller, type OperationHandler } from '../../platform/http/handlers/handler.ts';
import { parsePageRequest } from '../../platform/http/lists/pagination.ts';
import { formatReadableRows } from '../../platform/http/lists/readable-rows.ts';
import { parseTimeWindow } from '../../platform/http/lists/time-window.ts';
import { formatTokenScope, listRunPage } from '../listing/list-run-page.ts';
import { parseRunFilter, readWindow } from '../listing/parse-run-filter.ts';
import type { RunFilter, RunPosition } from '../listing/run-filter.ts';
import type { RunList } from '../listing/visible-filter.ts';
import { findEnsembleStarts } from '../store/ensemble-runs.ts';
import { runBody } from './run-body.ts';
import { type RunsPage, respondWithCsv } from './runs-csv.ts';

export const listRuns: OperationHandler<'listRuns'> = async (
  context,
  { caller, params, query, onDisconnect },
) => {
  const { database, pageTokens, clock } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const window = readWindow(query);
  const now = clock.now();
  const filter = parseRunFilter(query, parseTimeWindow(window, now));
  const list = { applicationUid: application.uid, role: caller.role };
  const isProduction = query.production === true;
  if (query.format === 'csv') {
    rejectPaging(query);
    // Runs that are created meanwhile have no columns.
    const present = { ...filter, end: Math.min(filter.end, now + 1) };
    return respondWithCsv(
      (after) => readRuns(context, list, present, { after, limit: PAGE_ITEMS_MAX, isProduction }),
      onDisconnect,
      context.openCsvLists.open(formatCaller(caller)),
    );
  }
  const scopeOfFilter = await formatTokenScope(database.read, list, filter);
  const scopeOfRuns = isProduction ? 'production runs' : 'runs';
  const tokenScope = `${scopeOfRuns} ${application.uid} ${window.start ?? ''} ${window.end ?? ''}${scopeOfFilter}`;
  const { after, limit } = parsePageRequest(pageTokens, tokenScope, query);
  const { runs, next } = await readRuns(context, list, filter, {
    after,
    limit: limit ?? PAGE_ITEMS_MAX,
    isProduction,
  });
  return {
    status: 200,
    body: {
      runs,
      ...(query.pagereturn ? { items: runs } : {}),
      ...(next ? { next_page_token: pageTokens.encode(tokenScope, next) } : {}),
    },
  };
};

async function readRuns(
  { database, clock, log }: Pick<Context, 'database' | 'clock' | 'log'>,
  list: RunList,
  filter: RunFilter,
  request: { after: RunPosition | null; limit: number; isProduction: boolean },
): Promise<RunsPage> {
  const page = await listRunPage({ database, clock }, list, filter, request);
  const ensembles = page.items.filter(({ run_type }) => run_type === 'ensemble');
  const starts = await findEnsembleStarts(database.read, ensembles);
  const runs = await formatReadableRows(log, page.items, (rows) =>
    rows.map((row) =>
      runBody({ ...row, initiated_at: starts.get(row.id) ?? row.initiated_at }, row.hiddenOptions),
    ),
  );
  return { runs, next: page.next };
}

/** CSV has no place for a token of the next page. */
function rejectPaging(query: Query<Operations['listRuns']>): void {
  for (const name of ['pagereturn', 'pagetoken', 'limit'] as const)
    if (query[name] !== undefined)
      throw badRequest(
        `format is csv and ${name} is given; CSV has all runs of the filter in one response. Leave ${name} out.`,
      );
}
