/**
 * The queue of an account, page by page: running runs, then queued ones. A page token holds the queue position of the last
 * run on the page, and the latest start of the runs that were running at the first page. A run that started since was on an
 * earlier page, or it is listed among the queued ones, at its position. So a start between two pages neither skips nor
 * repeats a run.
 */

import { QUEUE_RUNS_MAX } from '@switchyard/contract/limits.ts';
import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { toStatusV1 } from '@switchyard/contract/states.ts';
import { formatRfc3339 } from '../../clock.ts';
import type { Reader } from '../../database/database.ts';
import type { OperationHandler } from '../../http/handlers/handler.ts';
import { type PagePosition, parsePageRequest, slicePage } from '../../http/lists/pagination.ts';
import { type CanProvision, explainWaitingRuns } from '../queue/explain-waiting.ts';
import {
  type ActiveRunRow,
  compareQueueOrder,
  createQueuePosition,
  listActiveRuns,
  type QueuePosition,
} from '../queue/queue-order.ts';

interface Cursor {
  part: 'running' | 'queued';
  after: QueuePosition;
  /** The latest start of a run that counts as running. */
  startedUntil: number;
}

export const getQueue: OperationHandler<'getQueue'> = async (
  { database, pageTokens, clock, canProvision },
  { caller, query },
) => {
  const tokenScope = `queue ${caller.account}`;
  const request = parsePageRequest(pageTokens, tokenScope, query);
  const limit = request.limit ?? QUEUE_RUNS_MAX;
  const cursor = request.after ? parseCursor(request.after) : null;
  const active = await listActiveRuns(database.read, caller.account, {
    after: cursor?.part === 'queued' ? cursor.after : null,
    limit: limit + 1,
  });
  const startedUntil = cursor?.startedUntil ?? Math.max(0, ...active.running.map(readStartTime));
  const rows = sortRemaining(active, cursor, startedUntil);
  const page = slicePage(rows, limit, ({ part, run }) => formatCursor({ part, after: run, startedUntil }));
  const runs = await formatRuns(database.read, page.items, { now: clock.now(), canProvision });
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

const readStartTime = (run: ActiveRunRow): number => run.initiated_at ?? 0;

/** Returns the runs after the cursor in order; of the queued runs only those of the page. */
function sortRemaining(
  { running, queued }: { running: ActiveRunRow[]; queued: ActiveRunRow[] },
  cursor: Cursor | null,
  startedUntil: number,
): Row[] {
  const first = cursor?.part === 'queued' ? [] : running.filter((run) => readStartTime(run) <= startedUntil);
  const since = running.filter((run) => readStartTime(run) > startedUntil);
  const isAhead = (part: Cursor['part'], run: ActiveRunRow): boolean =>
    cursor === null || cursor.part !== part || compareQueueOrder(run, cursor.after) > 0;
  return [
    ...first.filter((run) => isAhead('running', run)).map((run): Row => ({ part: 'running', run })),
    ...[...queued, ...since]
      .sort(compareQueueOrder)
      .filter((run) => isAhead('queued', run))
      .map((run): Row => ({ part: 'queued', run })),
  ];
}

function formatCursor({ part, after, startedUntil }: Cursor): PagePosition {
  return { at: startedUntil, id: `${part} ${after.priority} ${after.created_at} ${after.id}` };
}

/** Parses the result of `formatCursor`. The token is signed, so it has no other origin. */
function parseCursor({ at, id }: PagePosition): Cursor {
  const [part, priority, createdAt, run = ''] = id.split(' ');
  return {
    part: part === 'running' ? 'running' : 'queued',
    after: createQueuePosition(Number(priority), Number(createdAt), run),
    startedUntil: at,
  };
}

async function formatRuns(
  db: Reader,
  rows: readonly Row[],
  { now, canProvision }: { now: number; canProvision: CanProvision },
): Promise<ActiveRun[]> {
  const queued = rows.map(({ run }) => run).filter((run) => run.status === 'queued');
  const waiting = await explainWaitingRuns(db, queued, now, canProvision);
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
      application_instance_id: run.instance_id,
      application_version_id: run.version_id,
      execution_class: run.execution_class,
      queuing_priority: run.priority,
      queuing_disabled: run.queuing_disabled === 1,
      attempt: run.attempt,
      ...(reason ? { waiting: reason } : {}),
    };
  });
}
