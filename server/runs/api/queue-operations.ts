/**
 * The queue of an account, page by page: what runs, then what waits. A page token holds the turn of the last run that was
 * answered, and when the youngest of those that ran on the first page was started: a run started since has been passed or
 * is still to come among those that wait, and is answered there, at its turn. So none is missed or answered twice because
 * it started meanwhile.
 */

import { QUEUE_RUNS_MAX } from '@switchyard/contract/limits.ts';
import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { toStatusV1 } from '@switchyard/contract/states.ts';
import { type Clock, formatRfc3339 } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import type { HandlersFor } from '../../http/handlers/handler.ts';
import {
  type PagePosition,
  type PageTokens,
  parsePageRequest,
  slicePage,
} from '../../http/lists/pagination.ts';
import {
  type ActiveRunRow,
  compareQueueOrder,
  createQueuePosition,
  listActiveRuns,
  type QueuePosition,
} from '../queue/queue-order.ts';
import { explainWaitingRuns } from '../queue/waiting-reason.ts';

interface Parts {
  database: Database;
  pageTokens: PageTokens;
  clock: Clock;
}

interface Cursor {
  part: 'running' | 'queued';
  after: QueuePosition;
  /** Until when what ran was started, to count as running. */
  startedUntil: number;
}

export function queueHandlers({ database, pageTokens, clock }: Parts): HandlersFor<'getQueue'> {
  return {
    async getQueue({ caller, query }) {
      const list = `queue ${caller.account}`;
      const request = parsePageRequest(pageTokens, list, query);
      const limit = request.limit ?? QUEUE_RUNS_MAX;
      const cursor = request.after ? cursorOf(request.after) : null;
      const found = await listActiveRuns(database.read, caller.account, {
        after: cursor?.part === 'queued' ? cursor.after : null,
        limit: limit + 1,
      });
      const startedUntil = cursor?.startedUntil ?? Math.max(0, ...found.running.map(startOf));
      const rows = inOrder(found, cursor, startedUntil);
      const page = slicePage(rows, limit, ({ part, run }) => positionOf({ part, after: run, startedUntil }));
      const runs = await shown(database, caller.account, page.items, clock.now());
      return {
        status: 200,
        body: {
          runs,
          ...(query.pagereturn ? { items: runs } : {}),
          ...(page.next ? { next_page_token: pageTokens.encode(list, page.next) } : {}),
        },
      };
    },
  };
}

interface Row {
  part: Cursor['part'];
  run: ActiveRunRow;
}

const startOf = (run: ActiveRunRow): number => run.initiated_at ?? 0;

/** What is left to answer, in order; of what waits, as much as was read. */
function inOrder(
  { running, queued }: { running: ActiveRunRow[]; queued: ActiveRunRow[] },
  cursor: Cursor | null,
  startedUntil: number,
): Row[] {
  const first = cursor?.part === 'queued' ? [] : running.filter((run) => startOf(run) <= startedUntil);
  const since = running.filter((run) => startOf(run) > startedUntil);
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

function positionOf({ part, after, startedUntil }: Cursor): PagePosition {
  return { at: startedUntil, id: `${part} ${after.priority} ${after.created_at} ${after.id}` };
}

/** What positionOf wrote; the token is signed, so nobody else has. */
function cursorOf({ at, id }: PagePosition): Cursor {
  const [part, priority, createdAt, run = ''] = id.split(' ');
  return {
    part: part === 'running' ? 'running' : 'queued',
    after: createQueuePosition(Number(priority), Number(createdAt), run),
    startedUntil: at,
  };
}

async function shown(
  database: Database,
  account: AccountId,
  rows: readonly Row[],
  now: number,
): Promise<ActiveRun[]> {
  const queued = rows.map(({ run }) => run).filter((run) => run.status === 'queued');
  const reasons = await explainWaitingRuns(database.read, account, queued, now);
  const waiting = new Map(queued.map((run, index) => [run.id, reasons[index]]));
  return rows.map(({ run }) => {
    const why = waiting.get(run.id);
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
      ...(why ? { waiting: why } : {}),
    };
  });
}
