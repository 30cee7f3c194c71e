/**
 * Webhooks under torture: some stand from the beginning to the end, others come and go. Their receiver lives in the process
 * of the torture; it answers 500 now and then, or not at all, but no event of a webhook that stands more than once.
 */
import type { WebhookEvent } from '@switchyard/contract/account/webhook-schemas.ts';
import { RandomGenerator } from '../server/experiments/statistics/random-generator.ts';
import { sleep } from '../server/testing/host/sleep.ts';
import {
  type ReceivedDelivery,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../server/testing/http/webhook-receiver.ts';
import type { RunQuery } from '../server/testing/load/invariants.ts';
import type { RequestTarget } from '../server/testing/load/run-load.ts';
import { RetryingClient } from './retrying-client.ts';

const STANDING = ['standing-1', 'standing-2'];
const REFUSED = 0.03;
const HELD_UP = 0.002;

export class WebhookLoad {
  readonly deleted: string[] = [];
  createdCount = 0;
  deliveries = 0;
  injectedFailures = 0;
  /** By webhook and sequence: the id of the event and the status it told of. */
  readonly told = new Map<string, { event: string; status: string }>();
  readonly violations: string[] = [];
  readonly #insisting: RetryingClient;
  readonly #draw: RandomGenerator;
  readonly #failedOnce = new Set<string>();
  #receiver: WebhookReceiver | undefined;
  #stopped = false;

  constructor(target: RequestTarget, seed: string) {
    this.#insisting = new RetryingClient(target);
    this.#draw = new RandomGenerator(`receiver ${seed}`);
  }

  get rejections(): readonly string[] {
    return this.#insisting.rejections;
  }

  /** Before any run is made, so that every event is theirs. */
  async prepare(): Promise<void> {
    const receiver = await startWebhookReceiver(undefined, undefined, { keeps: false });
    receiver.respond = (response, one) => this.#receive(response, one);
    this.#receiver = receiver;
    for (const id of STANDING) await this.#make(id);
  }

  /** Webhooks that are made, told for a while, and deleted, one after the other. */
  async createAndDelete(): Promise<void> {
    while (!this.#stopped) {
      const id = `passing-${this.createdCount}`;
      await this.#make(id);
      await sleep(1000 + Math.random() * 3000);
      await this.#insisting.retry('DELETE', `/v1/webhooks/${id}`);
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
    await this.#insisting.retry('POST', '/v1/webhooks', {
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
    if (chance < REFUSED && !this.#stopped && !this.#failedOnce.has(key)) {
      this.#failedOnce.add(key);
      this.injectedFailures += 1;
      // Held up: it is never answered, and taken for lost after a while.
      if (chance >= HELD_UP) response.writeHead(500).end();
      return;
    }
    const known = this.told.get(key);
    const { event_id, data } = event;
    const status = String((data as { status_v2?: string }).status_v2);
    if (known && known.event !== event_id)
      this.violations.push(`${key} was told as ${known.event} and as ${event_id}`);
    if (known && known.status !== status)
      this.violations.push(`${key} was told as ${known.status} and as ${status}`);
    this.told.set(key, { event: event_id, status });
    response.writeHead(200).end('ok');
  }

  /** Every event that the database has, and what became of what belongs to webhooks. */
  async check(query: RunQuery): Promise<{ events: number; violations: string[] }> {
    const wrong: string[] = [];
    const failed = await this.#lastFailures(query);
    const events = await query(
      'select seq, run_id, status from run_events where application_uid in (select uid from applications)',
    );
    for (const { seq, run_id, status } of events)
      for (const id of STANDING) {
        const told = this.told.get(`${id} ${Number(seq)}`);
        if (!told) {
          const why = failed.get(`${id} ${Number(seq)}`) ?? 'no attempt that failed is stored';
          wrong.push(`${id} was never told that ${run_id} is ${status} (sequence ${seq}): ${why}`);
        } else if (told.status !== status)
          wrong.push(`${id} was told that ${run_id} is ${told.status}; sequence ${seq} says ${status}`);
      }
    const webhooks = (await query('select id from webhooks')).map(({ id }) => String(id));
    for (const id of STANDING) if (!webhooks.includes(id)) wrong.push(`the webhook ${id} is not there`);
    for (const id of this.deleted)
      if (webhooks.includes(id)) wrong.push(`the webhook ${id} was deleted and is there`);
    return { events: events.length, violations: [...wrong, ...this.violations] };
  }

  /** By webhook and sequence: the last attempt that failed. */
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
