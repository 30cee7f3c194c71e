/**
 * Webhooks during the chaos test: some exist from the beginning to the end, others are created and deleted. This
 * process runs their receiver. It sometimes responds with 500, or not at all, but at most once for each event of a
 * permanent webhook.
 */
import type { WebhookEvent } from '@switchyard/contract/account/webhook-schemas.ts';
import { RandomGenerator } from '../server/platform/random-generator.ts';
import { sleep } from '../server/testing/host/sleep.ts';
import {
  type ReceivedDelivery,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../server/testing/http/webhook-receiver.ts';
import type { RunQuery } from '../server/testing/load/invariants.ts';
import type { RequestTarget } from '../server/testing/load/run-load.ts';
import { RetryingClient } from './retrying-client.ts';

const PERMANENT_WEBHOOKS = ['permanent-1', 'permanent-2'];
const FAILURE_SHARE = 0.03;
const TIMEOUT_SHARE = 0.002;

/** Creates webhooks and receives their deliveries. */
export class WebhookLoad {
  readonly deleted: string[] = [];
  createdCount = 0;
  deliveries = 0;
  injectedFailures = 0;
  /** By webhook and sequence: the id of the event and the status in it. */
  readonly received = new Map<string, { event: string; status: string }>();
  readonly violations: string[] = [];
  readonly #client: RetryingClient;
  readonly #draw: RandomGenerator;
  readonly #failedOnce = new Set<string>();
  #receiver: WebhookReceiver | undefined;
  #stopped = false;

  constructor(target: RequestTarget, seed: string) {
    this.#client = new RetryingClient(target);
    this.#draw = new RandomGenerator(`receiver ${seed}`);
  }

  get rejections(): readonly string[] {
    return this.#client.rejections;
  }

  /** Creates the permanent webhooks. Call it before any run exists, so that they receive every event. */
  async prepare(): Promise<void> {
    const receiver = await startWebhookReceiver(undefined, undefined, { keeps: false });
    receiver.respond = (response, one) => this.#receive(response, one);
    this.#receiver = receiver;
    for (const id of PERMANENT_WEBHOOKS) await this.#make(id);
  }

  /** Creates and deletes webhooks, one after the other. */
  async createAndDelete(): Promise<void> {
    while (!this.#stopped) {
      const id = `temporary-${this.createdCount}`;
      await this.#make(id);
      await sleep(1000 + Math.random() * 3000);
      await this.#client.retry('DELETE', `/v1/webhooks/${id}`);
      this.deleted.push(id);
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  async close(): Promise<void> {
    await this.#receiver?.close();
  }

  async #make(id: string): Promise<void> {
    await this.#client.retry('POST', '/v1/webhooks', {
      id,
      event_types: ['run.status'],
      endpoint_url: `http://127.0.0.1:${this.#receiver?.port}/${id}`,
      description: '',
    });
    this.createdCount += 1;
  }

  #receive(response: Parameters<WebhookReceiver['respond']>[0], { path, event }: ReceivedDelivery): void {
    this.deliveries += 1;
    const key = `${path.slice(1)} ${event.sequence}`;
    const chance = this.#draw.uniform();
    if (chance < FAILURE_SHARE && !this.#stopped && !this.#failedOnce.has(key)) {
      this.#failedOnce.add(key);
      this.injectedFailures += 1;
      // A held delivery gets no response, and the server times it out.
      if (chance >= TIMEOUT_SHARE) response.writeHead(500).end();
      return;
    }
    const known = this.received.get(key);
    const { event_id, data } = event;
    const status = String((data as { status_v2?: string }).status_v2);
    if (known && known.event !== event_id)
      this.violations.push(`${key} was delivered as ${known.event} and as ${event_id}`);
    if (known && known.status !== status)
      this.violations.push(`${key} was delivered with ${known.status} and with ${status}`);
    this.received.set(key, { event: event_id, status });
    response.writeHead(200).end('ok');
  }

  /** Returns the number of events in the database, and violations: missing deliveries and wrong webhooks. */
  async check(query: RunQuery): Promise<{ events: number; violations: string[] }> {
    const violations: string[] = [];
    const failed = await this.#lastFailures(query);
    const events = await query(
      'select seq, run_id, status from run_events where application_uid in (select uid from applications)',
    );
    for (const { seq, run_id, status } of events)
      for (const id of PERMANENT_WEBHOOKS) {
        const delivery = this.received.get(`${id} ${Number(seq)}`);
        if (!delivery) {
          const reason = failed.get(`${id} ${Number(seq)}`) ?? 'no failed attempt is stored';
          violations.push(`${id} did not receive that ${run_id} is ${status} (sequence ${seq}): ${reason}`);
        } else if (delivery.status !== status)
          violations.push(
            `${id} received that ${run_id} is ${delivery.status}; sequence ${seq} says ${status}`,
          );
      }
    const webhooks = (await query('select id from webhooks')).map(({ id }) => String(id));
    for (const id of PERMANENT_WEBHOOKS)
      if (!webhooks.includes(id)) violations.push(`the webhook ${id} does not exist`);
    for (const id of this.deleted)
      if (webhooks.includes(id)) violations.push(`the webhook ${id} was deleted and still exists`);
    return { events: events.length, violations: [...violations, ...this.violations] };
  }

  /** Returns the last failed attempt, by webhook and sequence. */
  async #lastFailures(query: RunQuery): Promise<Map<string, string>> {
    const rows = await query(
      `select webhooks.id as webhook, attempt, status, error, body from webhook_conversations
       join webhooks on webhooks.uid = webhook_uid join webhook_events on webhook_events.id = event_id
       where status <> 'succeeded' order by attempt`,
    );
    return new Map(
      rows.map(({ webhook, attempt, status, error, body }) => [
        `${webhook} ${(JSON.parse(String(body)) as WebhookEvent).sequence}`,
        `attempt ${attempt} ${status}, ${error}`,
      ]),
    );
  }
}
