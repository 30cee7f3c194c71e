/** The list of the runs of an application. */
import { PAGE_ITEMS_MAX } from '@switchyard/contract/limits.ts';
import { getApplication } from '../../apps/applications/store.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { parsePageRequest } from '../../platform/http/lists/pagination.ts';
import { formatReadableRows } from '../../platform/http/lists/readable-rows.ts';
import { parseTimeWindow } from '../../platform/http/lists/time-window.ts';
import { formatTokenScope, listRunPage } from '../listing/list-run-page.ts';
import { parseRunFilter, readWindow } from '../listing/parse-run-filter.ts';
import { findEnsembleStarts } from '../store/ensemble-runs.ts';
import { runBody } from './run-body.ts';

export const listRuns: OperationHandler<'listRuns'> = async (
  { database, pageTokens, clock, log },
  { caller, params, query },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  const window = readWindow(query);
  const filter = parseRunFilter(query, parseTimeWindow(window, clock.now()));
  const list = { applicationUid: application.uid, role: caller.role };
  const scopeOfFilter = await formatTokenScope(database.read, list, filter);
  const isProduction = query.production === true;
  const scopeOfRuns = isProduction ? 'production runs' : 'runs';
  const tokenScope = `${scopeOfRuns} ${application.uid} ${window.start ?? ''} ${window.end ?? ''}${scopeOfFilter}`;
  const { after, limit } = parsePageRequest(pageTokens, tokenScope, query);
  const request = { after, limit: limit ?? PAGE_ITEMS_MAX, isProduction };
  const page = await listRunPage({ database, clock }, list, filter, request);
  const ensembles = page.items.filter(({ run_type }) => run_type === 'ensemble');
  const starts = await findEnsembleStarts(database.read, ensembles);
  const runs = await formatReadableRows(log, page.items, (rows) =>
    rows.map((row) =>
      runBody({ ...row, initiated_at: starts.get(row.id) ?? row.initiated_at }, row.hiddenOptions),
    ),
  );
  return {
    status: 200,
    body: {
      runs,
      ...(query.pagereturn ? { items: runs } : {}),
      ...(page.next ? { next_page_token: pageTokens.encode(tokenScope, page.next) } : {}),
    },
  };
};
