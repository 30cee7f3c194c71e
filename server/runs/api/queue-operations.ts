/**
 * The queue of an account, page by page: running runs, then queued ones. The first page with queued runs has them in the order
 * in which they start. That order changes with the slots in use, so further pages have all other runs by priority and age:
 * the pages neither skip nor repeat a run.
 *
 * A page token holds the position of the last run on the page, and the latest start of the runs that were running at the first
 * page. It also holds the last run of each lane on the first page with queued runs, which has the oldest runs of its lanes. A run
 * that started since was on an earlier page, or it is listed among the queued ones.
 */
import { createHash } from 'node:crypto';
import { QUEUE_RUNS_MAX } from '@switchyard/contract/limits.ts';
import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import { toStatusV1 } from '@switchyard/contract/states.ts';
import Type from 'typebox';
import { findApplicationNames } from '../../accounts/usage/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { type PagePosition, parsePageRequest, slicePage } from '../../platform/http/lists/pagination.ts';
import { formatReadableRows } from '../../platform/http/lists/readable-rows.ts';
import { type CanProvision, explainWaitingRuns } from '../queue/explain-waiting.ts';
import { formatRequirementsKey } from '../queue/order/lanes.ts';
import {
  compareAge,
  comparePositions,
  createQueuePosition,
  type QueuePosition,
} from '../queue/order/queue-position.ts';
import { type ActiveRunRow, listActiveRuns, listNextActiveRuns } from '../queue/queue-order.ts';

interface Cursor {
  part: 'running' | 'queued';
  after: QueuePosition;
  /** The latest start of a run that counts as running. */
  startedUntil: number;
  /** The last runs of the first page with queued runs, one for each lane. */
  listed: ListedRun[];
}

/** Page tokens are part of an address, so a page that others follow ends before it has more lanes. */
const LISTED_MAX = 64;

interface ListedRun extends QueuePosition {
  lane: string;
}

export const getQueue: OperationHandler<'getQueue'> = async (
  { database, pageTokens, clock, log, canProvision },
  { caller, query },
) => {
  const tokenScope = `queue ${caller.account}`;
  const request = parsePageRequest(pageTokens, tokenScope, query);
  const limit = request.limit ?? QUEUE_RUNS_MAX;
  const cursor = request.after ? parseCursor(request.after) : null;
  const rest = cursor?.part === 'queued' ? cursor : null;
  const startOfPage = { account: caller.account, cursor, limit: limit + 1 };
  const { rows, startedUntil, isWhole } = rest
    ? await listRemaining(database.read, startOfPage, rest)
    : await listFirst(database.read, startOfPage, clock.now());
  const length = isWhole ? limit : Math.min(limit, countListable(rows), rows.length - 1);
  const page = slicePage(rows, length, (last) =>
    last.part === 'running'
      ? formatCursor({ part: 'running', after: last.run, startedUntil, listed: [] })
      : formatCursor({
          part: 'queued',
          // The first page is in another order, so the second one begins at the front.
          after: rest ? last.run : createQueuePosition(0, 0, ''),
          startedUntil,
          listed: rest ? rest.listed : listLastOfLanes(rows.slice(0, rows.indexOf(last) + 1)),
        }),
  );
  const runs = await formatReadableRows(log, page.items, (some) =>
    formatRuns(database.read, some, { account: caller.account, now: clock.now(), canProvision }),
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

interface Row {
  part: Cursor['part'];
  run: ActiveRunRow;
}

interface Rows {
  /** At most one more than the page has. */
  rows: Row[];
  /** True if the rows are all that follow, up to their bound. */
  isWhole: boolean;
  startedUntil: number;
}

interface PageStart {
  account: AccountId;
  cursor: Cursor | null;
  limit: number;
}

const readStartTime = (run: ActiveRunRow): number => run.initiated_at ?? 0;

/** Lists running runs, then queued ones in the order in which they start. */
async function listFirst(db: Reader, { account, cursor, limit }: PageStart, now: number): Promise<Rows> {
  const { running, queued, isWhole } = await listNextActiveRuns(db, { account, limit }, now);
  const startedUntil = cursor?.startedUntil ?? Math.max(0, ...running.map(readStartTime));
  const first = running
    .filter((run) => readStartTime(run) <= startedUntil)
    .filter((run) => cursor === null || comparePositions(run, cursor.after) > 0);
  const since = running.filter((run) => readStartTime(run) > startedUntil);
  const rows = [
    ...first.sort(comparePositions).map((run): Row => ({ part: 'running', run })),
    ...[...since.sort(comparePositions), ...queued].map((run): Row => ({ part: 'queued', run })),
  ];
  return { startedUntil, rows, isWhole: isWhole && rows.length < limit };
}

/** Lists the queued runs that are not on the first page with queued runs, by priority and age. */
async function listRemaining(
  db: Reader,
  { account, limit }: PageStart,
  { after, startedUntil, listed }: Cursor,
): Promise<Rows> {
  const last = new Map(listed.map((run) => [run.lane, run]));
  const isListed = (run: ActiveRunRow): boolean => {
    const ofLane = last.get(formatLane(run));
    return ofLane !== undefined && compareAge(run, ofLane) <= 0;
  };
  const { running, queued } = await listActiveRuns(db, account, { after, limit: limit + QUEUE_RUNS_MAX });
  const since = running.filter(
    (run) => readStartTime(run) > startedUntil && comparePositions(run, after) > 0,
  );
  const rows = [...queued, ...since].filter((run) => !isListed(run)).sort(comparePositions);
  return {
    ...{ startedUntil, isWhole: true },
    rows: rows.slice(0, limit).map((run): Row => ({ part: 'queued', run })),
  };
}

/** Returns the number of rows before those of the first lane that is one too many for a page token. */
function countListable(rows: readonly Row[]): number {
  const lanes = new Set<string>();
  const index = rows.findIndex(
    ({ part, run }) => part === 'queued' && lanes.add(formatLane(run)).size > LISTED_MAX,
  );
  return index < 0 ? rows.length : index;
}

/** Returns the same short text for runs of the same lane. */
function formatLane(run: ActiveRunRow): string {
  const { priority, application_uid, execution_class } = run;
  return createHash('sha256')
    .update(`${priority} ${application_uid} ${execution_class} ${formatRequirementsKey(run)}`)
    .digest('base64url')
    .slice(0, 16);
}

/** Returns the last run of each lane among the queued ones. */
function listLastOfLanes(rows: readonly Row[]): ListedRun[] {
  const last = new Map<string, ListedRun>();
  for (const { part, run } of rows) {
    if (part !== 'queued') continue;
    const lane = formatLane(run);
    const known = last.get(lane);
    if (!known || compareAge(run, known) > 0) last.set(lane, { ...run, lane });
  }
  return [...last.values()];
}

function formatCursor({ part, after, startedUntil, listed }: Cursor): PagePosition {
  const runs = [after, ...listed].map((run) => [
    run.priority,
    run.created_at,
    run.id,
    'lane' in run ? run.lane : '',
  ]);
  return { at: startedUntil, id: `${part} ${JSON.stringify(runs)}` };
}

const parseRuns = createJsonParser(
  Type.Array(Type.Tuple([Type.Number(), Type.Number(), Type.String(), Type.String()])),
);

/** Parses the result of `formatCursor`. The token is signed, so it has no other origin. */
function parseCursor({ at, id }: PagePosition): Cursor {
  const [part = ''] = id.split(' ', 1);
  const runs = parseRuns(id.slice(part.length + 1), 'pagetoken');
  const [after = createQueuePosition(0, 0, ''), ...listed] = runs.map(([priority, createdAt, run, lane]) => ({
    ...createQueuePosition(priority, createdAt, run),
    lane,
  }));
  return { part: part === 'running' ? 'running' : 'queued', after, listed, startedUntil: at };
}

async function formatRuns(
  db: Reader,
  rows: readonly Row[],
  { account, now, canProvision }: { account: AccountId; now: number; canProvision: CanProvision },
): Promise<ActiveRun[]> {
  const queued = rows.map(({ run }) => run).filter((run) => run.status === 'queued');
  const waiting = await explainWaitingRuns(db, queued, now, canProvision);
  const applications = rows.map(({ run }) => run.application_id);
  const nameOf = await findApplicationNames(db, account, applications);
  return rows.map(({ run }) => {
    const reason = waiting.get(run.id);
    return {
      id: run.id,
      user_email: run.user_email,
      name: run.name,
      description: run.description,
      status: toStatusV1(run.status),
      status_v2: run.status === 'queued' ? 'queued' : 'running',
      created_at: formatRfc3339(run.created_at),
      ...(run.initiated_at === null ? {} : { initiated_at: formatRfc3339(run.initiated_at) }),
      application_id: run.application_id,
      application_name: nameOf(run.application_id),
      application_instance_id: run.instance_id,
      application_version_id: run.version_id,
      execution_class: run.execution_class,
      ...(run.max_duration === null ? {} : { max_duration: run.max_duration }),
      queuing_priority: run.priority,
      queuing_disabled: run.queuing_disabled === 1,
      attempt: run.attempt,
      ...(reason ? { waiting: reason } : {}),
    };
  });
}
