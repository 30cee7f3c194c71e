/** The operations that search logs. */
import { LOG_MATCHES_DEFAULT, LOG_SEARCH_ITEMS_DEFAULT } from '@switchyard/contract/limits.ts';
import type { RunLogMatches } from '@switchyard/contract/runs/logs/log-search.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import { isActionAllowed } from '@switchyard/contract/states.ts';
import { decodeTimeSteps, type TimeStep } from '@switchyard/worker/log/line-times.ts';
import { getApplication } from '../../apps/applications/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';
import { formatMemberKey, type OperationHandler } from '../../platform/http/handlers/handler.ts';
import { parseTimeWindow } from '../../platform/http/lists/time-window.ts';
import { getOwnRun } from '../api/own-run.ts';
import { parseRunFilter, readWindow } from '../listing/parse-run-filter.ts';
import { findLogTimes } from '../logs/log-times.ts';
import type { LogQuery } from './line-matcher.ts';
import { type FoundRuns, RunsSearchPosition, SearchPosition } from './log-search.ts';

const parsePosition = createJsonParser(SearchPosition);
const parseRunsPosition = createJsonParser(RunsSearchPosition);

export const searchRunLog: OperationHandler<'searchRunLog'> = async (context, { caller, params, query }) => {
  const { pageTokens, logSearch } = context;
  const run = await getOwnRun(context, caller, params);
  assertOneLine(query);
  const { text, level } = query;
  const tokenScope = `log ${run.id} ${JSON.stringify([text, level])}`;
  const from = query.pagetoken
    ? parsePosition(pageTokens.decode(tokenScope, query.pagetoken).id, 'pagetoken')
    : null;
  const searched = {
    id: run.id,
    account: caller.account,
    application: params.application_id,
    status: run.status,
    logContent: run.log_content_id,
  };
  const limit = query.limit ?? LOG_MATCHES_DEFAULT;
  const request = { query: { text, level }, from, limit };
  const { lines, next } = await logSearch.searchRun(formatMemberKey(caller), searched, request);
  const token = next && pageTokens.encode(tokenScope, { at: 0, id: JSON.stringify(next) });
  return { status: 200, body: { items: lines, ...(token ? { next_page_token: token } : {}) } };
};

export const searchLogs: OperationHandler<'searchLogs'> = async (
  { database, clock, pageTokens, logSearch },
  { caller, params, query },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  assertOneLine(query);
  const { text, level, pagetoken, limit = LOG_SEARCH_ITEMS_DEFAULT, ...filterQuery } = query;
  if (text === undefined && level === undefined)
    throw badRequest('text and level are missing; give at least one of them, such as text=infeasible.');
  const window = parseTimeWindow(readWindow(filterQuery), clock.now());
  const tokenScope = `logs ${application.uid} ${JSON.stringify([text, level, filterQuery])}`;
  const from: RunsSearchPosition = pagetoken
    ? parseRunsPosition(pageTokens.decode(tokenScope, pagetoken).id, 'pagetoken')
    : { after: null, within: null };
  const { next, ...found } = await logSearch.searchRuns({
    member: formatMemberKey(caller),
    account: caller.account,
    application: application.id,
    list: { applicationUid: application.uid, role: caller.role },
    filter: parseRunFilter(filterQuery, window),
    query: { text, level },
    from,
    limit,
  });
  const token = next && pageTokens.encode(tokenScope, { at: 0, id: JSON.stringify(next) });
  return {
    status: 200,
    body: {
      items: formatRuns(found.runs),
      examined_runs: found.examined,
      unreadable_runs: found.unreadable,
      ...(token ? { next_page_token: token } : {}),
    },
  };
};

function formatRuns(runs: FoundRuns['runs']): RunLogMatches[] {
  return runs.map(({ run, lines, hasMoreLines }) => ({
    run_id: run.id,
    name: run.name,
    status_v2: run.status,
    created_at: formatRfc3339(run.created_at),
    lines,
    has_more_lines: hasMoreLines,
  }));
}

function assertOneLine({ text }: LogQuery): void {
  if (text?.includes('\n'))
    throw badRequest('text has a line break; a search finds text within one line. Search for a part of it.');
}

export const getRunLogTimes: OperationHandler<'getRunLogTimes'> = async (context, { caller, params }) => {
  const run = await getOwnRun(context, caller, params);
  if (!isActionAllowed('readLogs', run.status))
    throw badRequest(
      `The run is ${run.status}; the times of its log can be read here once it has ended. Read logs/live until then, whose lines have times.`,
    );
  const bytes = run.log_content_id === null ? undefined : await findLogTimes(context.database.read, run.id);
  const [first, ...rest]: TimeStep[] = bytes ? [...decodeTimeSteps(bytes)] : [];
  if (!first) return { status: 200, body: { steps: [] } };
  const [start, lines] = first;
  return { status: 200, body: { start: formatRfc3339(start), steps: [[0, lines], ...rest] } };
};
