/**
 * Turns events of runs into deliveries. One transaction clears the pending mark of an event and inserts a delivery for
 * each subscribed webhook. Therefore each webhook gets each event once, also when the process is killed at any statement or
 * two processes run the job.
 */
import type { EventType } from '@switchyard/contract/account/event-types.ts';
import type { WebhookEvent } from '@switchyard/contract/account/webhook-schemas.ts';
import { formatMarkedJson } from '@switchyard/contract/exact-json.ts';
import { API_VERSION } from '@switchyard/contract/limits.ts';
import type { AccountId, EventId } from '@switchyard/contract/schemas/ids.ts';
import { isTerminal, toStatusV1 } from '@switchyard/contract/states.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { makeId, type Random } from '../../platform/random.ts';
import { runSummaryBody } from '../../runs/api/run-body.ts';
import { claimPendingEvents, listPendingEvents } from '../../runs/store/event-listeners.ts';
import { findRuns } from '../../runs/store/runs.ts';
import type { RunsTable } from '../../runs/store/schema.ts';
import { insertDeliveries, insertEvents, type NewDelivery } from './outbox.ts';
import type { WebhookEventsTable, WebhooksTable } from './schema.ts';
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
        await fanOutEvents(parts, tx, events);
      });
      database.notify('webhooks-due');
    },
  });
}

/**
 * Fans the events of a batch out, by a few statements for all of them. With five statements for each event, two servers whose
 * processes were killed again and again stored 2 events a second and created 9.
 */
async function fanOutEvents(parts: Parts, tx: Writer, events: readonly Pending[]): Promise<void> {
  const claimed = await claimPendingEvents(tx, events);
  const subscribed = new Map<AccountId, WebhooksTable[]>();
  const due: DueEvent[] = [];
  for (const { account_id: account, application_id: application, ...event } of events) {
    // A deleted application has no webhooks.
    if (!claimed.has(event.seq) || account === null || application === null) continue;
    const webhooks = subscribed.get(account) ?? (await listSubscribedWebhooks(tx, account, 'run.status'));
    subscribed.set(account, webhooks);
    if (webhooks.length > 0) due.push({ event, application, webhooks });
  }
  const runs = await findRuns(
    tx,
    due.map(({ event }) => event.run_id),
  );
  await insertPrepared(
    tx,
    due.map((one) =>
      prepareDeliveries(parts, one.webhooks, {
        event_type: 'run.status',
        created_at: one.event.at,
        sequence: one.event.seq,
        data: buildEventData(one, runs.get(one.event.run_id)),
      }),
    ),
  );
}

/** An event with the webhooks that get it. */
interface DueEvent {
  event: Omit<Pending, 'account_id' | 'application_id'>;
  application: string;
  webhooks: readonly WebhooksTable[];
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

type NewEvent = Omit<WebhookEvent, 'event_id' | 'api_version' | 'created_at'> & { created_at: number };

/** The rows of an event and its deliveries. */
interface PreparedDeliveries {
  event: WebhookEventsTable;
  deliveries: NewDelivery[];
}

/** Stores the event and enqueues one delivery per webhook. Call `database.notify('webhooks-due')` after the commit. */
export async function enqueueDeliveries(
  parts: Pick<Parts, 'random' | 'clock'>,
  tx: Writer,
  webhooks: readonly WebhooksTable[],
  event: NewEvent,
): Promise<EventId> {
  const prepared = prepareDeliveries(parts, webhooks, event);
  await insertPrepared(tx, [prepared]);
  return prepared.event.id;
}

async function insertPrepared(tx: Writer, prepared: readonly PreparedDeliveries[]): Promise<void> {
  const delivered = prepared.filter(({ deliveries }) => deliveries.length > 0);
  await insertEvents(
    tx,
    delivered.map(({ event }) => event),
  );
  await insertDeliveries(
    tx,
    delivered.flatMap(({ deliveries }) => deliveries),
  );
}

function prepareDeliveries(
  { random, clock }: Pick<Parts, 'random' | 'clock'>,
  webhooks: readonly WebhooksTable[],
  { event_type, created_at, sequence, data }: NewEvent,
): PreparedDeliveries {
  const id = makeId<EventId>(random, 'event');
  const body: WebhookEvent = {
    event_type,
    api_version: API_VERSION,
    event_id: id,
    created_at: formatRfc3339(created_at),
    sequence,
    data,
  };
  const now = clock.now();
  return {
    event: { id, body: formatMarkedJson(body), created_at: now },
    deliveries: webhooks.map(({ uid }) => ({
      id: makeId<string>(random, 'delivery'),
      webhook_uid: uid,
      event_id: id,
      next_at: now,
    })),
  };
}

/** Returns the run with its status at the time of the event. Statistics and metrics count once the run has ended. */
function buildEventData(
  { event: { run_id, application_uid, status }, application }: DueEvent,
  run: RunsTable | undefined,
): WebhookEvent['data'] {
  const then = { status: toStatusV1(status), status_v2: status };
  if (run?.application_uid !== application_uid) return { id: run_id, application_id: application, ...then };
  const { statistics, metrics, ...info } = runSummaryBody(run);
  const reported = isTerminal(status)
    ? { statistics, ...(metrics ? { metrics } : {}) }
    : { statistics: { status: 'none' as const, error: '', indicators: [] } };
  return { ...info, ...then, ...reported };
}
