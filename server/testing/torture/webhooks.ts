/**
 * Webhooks under torture: some stand from the beginning to the end, others come and go. Their receiver lives in the process
 * of the torture; it answers 500 now and then, or not at all, but no event of a webhook that stands more than once.
 */
import type { WebhookEvent } from '@switchyard/contract/webhook-shapes.ts';
import { Generator } from '../../experiments/statistics/generator.ts';
import { type Received, type Receiver, startReceiver } from '../receiver.ts';
import type { Query } from './checks.ts';
import { Insisting } from './insist.ts';
import { pause, type Target } from './load.ts';

const STANDING = ['standing-1', 'standing-2'];
const REFUSED = 0.03;
const HELD_UP = 0.002;

export class WebhookLoad {
  readonly deleted: string[] = [];
  made = 0;
  deliveries = 0;
  refusedOnPurpose = 0;
  /** By webhook and sequence: the id of the event and the status it told of. */
  readonly told = new Map<string, { event: string; status: string }>();
  readonly violations: string[] = [];
  readonly #insisting: Insisting;
  readonly #draw: Generator;
  readonly #failedOnce = new Set<string>();
  #receiver: Receiver | undefined;
  #stopped = false;

  constructor(target: Target, seed: string) {
    this.#insisting = new Insisting(target);
    this.#draw = new Generator(`receiver ${seed}`);
  }

  get refused(): readonly string[] {
    return this.#insisting.refused;
  }

  /** Before any run is made, so that every event is theirs. */
  async prepare(): Promise<void> {
    const receiver = await startReceiver(undefined, undefined, { keeps: false });
    receiver.respond = (response, one) => this.#receive(response, one);
    this.#receiver = receiver;
    for (const id of STANDING) await this.#make(id);
  }

  /** Webhooks that are made, told for a while, and deleted, one after the other. */
  async comeAndGo(): Promise<void> {
    while (!this.#stopped) {
      const id = `passing-${this.made}`;
      await this.#make(id);
      await pause(1000 + Math.random() * 3000);
      await this.#insisting.must('DELETE', `/v1/webhooks/${id}`);
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
    await this.#insisting.must('POST', '/v1/webhooks', {
      id,
      event_types: ['run.status'],
      endpoint_url: `http://127.0.0.1:${this.#receiver?.port}/${id}`,
      description: '',
    });
    this.made += 1;
  }

  #receive(response: Parameters<Receiver['respond']>[0], { path, event }: Received): void {
    this.deliveries += 1;
    const key = `${path.slice(1)} ${event.sequence}`;
    const chance = this.#draw.unit();
    if (chance < REFUSED && !this.#stopped && !this.#failedOnce.has(key)) {
      this.#failedOnce.add(key);
      this.refusedOnPurpose += 1;
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
  async check(query: Query): Promise<{ events: number; violations: string[] }> {
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
  async #lastFailures(query: Query): Promise<Map<string, string>> {
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
