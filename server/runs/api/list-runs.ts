/** The list of the runs of an application. */
import { PAGE_ITEMS_MAX } from '@switchyard/contract/limits.ts';
import { listHiddenOptions } from '../../applications/executable.ts';
import { findExecutables } from '../../applications/executables-store.ts';
import { getApplication } from '../../applications/store.ts';
import type { OperationHandler } from '../../http/handlers/handler.ts';
import { parsePageRequest } from '../../http/lists/pagination.ts';
import { parseTimeWindow } from '../../http/lists/time-window.ts';
import { isPlainFilter, listRunPage } from '../listing/list-run-page.ts';
import { parseRunFilter, readWindow } from '../listing/parse-run-filter.ts';
import { runBody } from './run-body.ts';

export const listRuns: OperationHandler<'listRuns'> = async (
  { database, pageTokens, clock },
  { caller, params, query },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  const window = readWindow(query);
  const filter = parseRunFilter(query, parseTimeWindow(window, clock.now()));
  const { start: _start, end: _end, options, ...order } = filter;
  const scopeOfFilter = isPlainFilter(order) ? '' : ` ${JSON.stringify(order)}`;
  const tokenScope = `runs ${application.uid} ${window.start ?? ''} ${window.end ?? ''}${scopeOfFilter}`;
  const { after, limit } = parsePageRequest(pageTokens, tokenScope, query);
  const request = { after, limit: limit ?? PAGE_ITEMS_MAX };
  const page = await listRunPage(database, application.uid, filter, request);
  const executables = await findExecutables(database.read, [
    ...new Set(page.items.map((row) => row.executable_id)),
  ]);
  const hidden = new Map(
    executables.map((executable) => [executable.id, listHiddenOptions(executable, caller.role)]),
  );
  const runs = page.items
    .map((row) => ({ row, hidden: hidden.get(row.executable_id) ?? new Set<string>() }))
    // A filter or an order by a hidden option would tell its value.
    .filter((one) => !options.some((name) => one.hidden.has(name)))
    .map((one) => runBody(one.row, one.hidden));
  return {
    status: 200,
    body: {
      runs,
      ...(query.pagereturn ? { items: runs } : {}),
      ...(page.next ? { next_page_token: pageTokens.encode(tokenScope, page.next) } : {}),
    },
  };
};
