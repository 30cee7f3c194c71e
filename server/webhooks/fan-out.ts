/**
 * Turns events of runs into deliveries. One transaction clears the pending mark of an event and inserts a delivery for
 * each subscribed webhook. Therefore each webhook gets each event once, also when the process is killed at any statement or
 * two processes run the job.
 */

import type { EventType } from '@switchyard/contract/account/event-types.ts';
import type { WebhookEvent } from '@switchyard/contract/account/webhook-schemas.ts';
import { API_VERSION } from '@switchyard/contract/limits.ts';
import type { AccountId, EventId } from '@switchyard/contract/schemas/ids.ts';
import { isTerminal, toStatusV1 } from '@switchyard/contract/states.ts';
import { formatRfc3339 } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import { defineJob, type Job, type JobContext } from '../jobs/define-job.ts';
import { makeId, type Random } from '../random.ts';
import { runSummaryBody } from '../runs/api/run-body.ts';
import { claimPendingEvent, listPendingEvents } from '../runs/store/event-listeners.ts';
import { findRun } from '../runs/store/runs.ts';
import { insertDeliveries, insertEvent } from './outbox.ts';
import type { WebhooksTable } from './schema.ts';
import { listEnabledWebhooks, parseEventTypes } from './store.ts';

const INTERVAL_MS = 1000;
/** Events within this time share a transaction. */
const DEBOUNCE_MS = 50;
const BATCH_SIZE = 50;

interface Parts extends JobContext {
  database: Database;
  random: Random;
}

type Pending = Awaited<ReturnType<typeof listPendingEvents>>[number];

/** Stores each event of a run and enqueues one delivery per subscribed webhook. */
export function fanOutEventsJob(parts: Parts): Job {
  const { database } = parts;
  return defineJob<Pending>(parts, {
    name: 'fan-out-events',
    intervalMs: INTERVAL_MS,
    wakeOn: ['runs-queued', 'runs-canceled', 'runs-ended'],
    debounceMs: DEBOUNCE_MS,
    batchSize: BATCH_SIZE,
    listRows: (limit) => listPendingEvents(database.read, limit),
    formatKey: (event) => String(event.seq),
    async handleRows(events) {
      await database.transact(async (tx) => {
        for (const event of events) await fanOutEvent(parts, tx, event);
      });
      database.notify('webhooks-due');
    },
  });
}

async function fanOutEvent(parts: Parts, tx: Writer, event: Pending): Promise<void> {
  if (!(await claimPendingEvent(tx, event))) return;
  // A deleted application has no webhooks.
  if (event.account_id === null || event.application_id === null) return;
  const webhooks = await listSubscribedWebhooks(tx, event.account_id, 'run.status');
  if (webhooks.length === 0) return;
  const data = await buildEventData(tx, event, event.application_id);
  await enqueueDeliveries(parts, tx, webhooks, {
    event_type: 'run.status',
    created_at: event.at,
    sequence: event.seq,
    data,
  });
}

/** Returns the enabled webhooks of the account that subscribe to events of the type. */
export async function listSubscribedWebhooks(
  tx: Writer,
  account: AccountId,
  type: EventType,
): Promise<WebhooksTable[]> {
  const webhooks = await listEnabledWebhooks(tx, account);
  return webhooks.filter((one) => parseEventTypes(one).includes(type));
}

/** Stores the event and enqueues one delivery per webhook. Call `database.notify('webhooks-due')` after the commit. */
export async function enqueueDeliveries(
  { random, clock }: Pick<Parts, 'random' | 'clock'>,
  tx: Writer,
  webhooks: readonly WebhooksTable[],
  event: Omit<WebhookEvent, 'event_id' | 'api_version' | 'created_at'> & { created_at: number },
): Promise<EventId> {
  const id = makeId<EventId>(random, 'event');
  const { event_type, created_at, sequence, data } = event;
  const body: WebhookEvent = {
    event_type,
    api_version: API_VERSION,
    event_id: id,
    created_at: formatRfc3339(created_at),
    sequence,
    data,
  };
  const now = clock.now();
  if (webhooks.length > 0) await insertEvent(tx, { id, body: JSON.stringify(body), created_at: now });
  await insertDeliveries(
    tx,
    webhooks.map(({ uid }) => ({
      id: makeId<string>(random, 'delivery'),
      webhook_uid: uid,
      event_id: id,
      next_at: now,
    })),
  );
  return id;
}

/** Returns the run with its status at the time of the event. Statistics and metrics count once the run has ended. */
async function buildEventData(
  tx: Writer,
  { run_id, application_uid, status }: Pending,
  applicationId: string,
): Promise<WebhookEvent['data']> {
  const run = await findRun(tx, application_uid, run_id);
  const then = { status: toStatusV1(status), status_v2: status };
  if (!run) return { id: run_id, application_id: applicationId, ...then };
  const { statistics, metrics, ...info } = runSummaryBody(run);
  const reported = isTerminal(status)
    ? { statistics, ...(metrics ? { metrics } : {}) }
    : { statistics: { status: 'none' as const, error: '', indicators: [] } };
  return { ...info, ...then, ...reported };
}
