/** Checks what the receivers of webhooks have got, at rest. */
import type { World } from '../world/world.ts';
import type { Observer } from './observer.ts';

/** A delivery that began before the deletion of its webhook may arrive so much later. */
const LATE_MS_MAX = 60_000;

/** Each event of an account has reached its permanent webhook, no other account, and no webhook after its deletion. */
export function checkDeliveries({ ledger, receivers, accounts }: World, observer: Observer): void {
  const events = new Map<string, string>();
  const received = new Set<string>();
  for (const { receiver, body, eventId, at } of receivers.deliveries) {
    received.add(`${receiver} ${readRun(body)} ${readStatus(body)}`);
    const deletedAt = ledger.deletedWebhooks.get(receiver);
    if (deletedAt !== undefined && at > deletedAt + LATE_MS_MAX)
      ledger.report(
        'a deleted webhook gets nothing',
        `${receiver} got ${eventId} ${at - deletedAt} ms later`,
      );
    if (typeof body.sequence !== 'number') continue;
    const key = `${receiver} ${body.sequence}`;
    if ((events.get(key) ?? eventId) !== eventId)
      ledger.report('an event is fanned out once', `${eventId} and ${events.get(key)} reached ${key}`);
    events.set(key, eventId);
  }
  const ownerOfRun = new Map(
    observer.query('select id, account_id from runs').map(({ id, account_id }) => [id, account_id]),
  );
  for (const { receiver, body } of receivers.deliveries) {
    const owner = ownerOfRun.get(String(readRun(body)));
    const account =
      accounts[
        ledger.webhooks.get(receiver) ?? accounts.findIndex(({ name }) => receiver.startsWith(`${name}.`))
      ];
    if (owner !== undefined && account && owner !== account.id)
      ledger.report('an account gets its own events only', `${receiver} got ${readRun(body)} of ${owner}`);
  }
  const rows = observer.query(
    'select run_id, run_events.status, account_id from run_events join runs on runs.id = run_events.run_id',
  );
  for (const { run_id, status, account_id } of rows) {
    const account = accounts.find(({ id }) => id === account_id);
    if (!account || status === 'none') continue;
    if (!received.has(`${account.name}.example.com ${run_id} ${status}`))
      ledger.report('an event reaches each webhook', `${run_id} ${status} did not reach ${account.name}`);
  }
}

const readData = (body: Record<string, unknown>): Record<string, unknown> =>
  (body.data ?? {}) as Record<string, unknown>;
const readRun = (body: Record<string, unknown>): unknown => readData(body).run_id ?? readData(body).id;
const readStatus = (body: Record<string, unknown>): unknown =>
  readData(body).status_v2 ?? readData(body).status;
