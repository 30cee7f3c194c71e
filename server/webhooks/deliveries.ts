/**
 * Sends what is due, many at once, and writes down what came of it. Holds which attempts are under way in this process:
 * so many a webhook, and one alone after a failure, until the receiver answers well again; a dead or slow receiver so keeps
 * nobody else waiting, and is not run over when it comes back. Runs are never touched by any of it.
 */

import { WEBHOOK_RETRY_SECONDS, WEBHOOK_TIMEOUT_MS } from '@switchyard/contract/limits.ts';
import type { ConversationId } from '@switchyard/contract/schemas/ids.ts';
import type { Database, Writer } from '../database/database.ts';
import type { Encryptor } from '../database/encryption.ts';
import type { Metrics } from '../http/metrics.ts';
import { defineJob, type Job, type JobContext } from '../jobs/define-job.ts';
import { errorMessage } from '../log.ts';
import { makeId, type Random } from '../random.ts';
import type { AddressRuleFor } from './addresses.ts';
import {
  type ClaimedDelivery,
  claimDue,
  type DueWebhook,
  findNextDueTime,
  finishDelivery,
  listDueWebhooks,
  removeEvents,
  reschedule,
} from './outbox.ts';
import type { WebhooksTable } from './schema.ts';
import { type DeliveryOutcome, type SendContext, sendDelivery } from './send.ts';
import { createSignatureHeaders, openSigningSecrets } from './signature.ts';
import { findWebhookByUid, insertConversation, updateWebhook } from './store.ts';

const INTERVAL_MS = 5000;
const PER_WEBHOOK_MAX = 8;
/** Attempts of all webhooks together: each holds a connection, and up to 64 KiB of a response. */
const TOTAL_MAX = 64;
/** Of the webhooks of one account, so that receivers that do not respond keep no other account waiting. */
const ACCOUNT_MAX = TOTAL_MAX / 2;
/** Longer than an attempt with everything around it takes. */
const CLAIM_MS = 4 * WEBHOOK_TIMEOUT_MS;
/** Longer than a receiver may ask for. */
const RETRY_AFTER_MS_MAX = 24 * 60 * 60 * 1000;
const GONE = 410;

export interface SendDeliveriesParts extends JobContext, Omit<SendContext, 'allows' | 'clock'> {
  addressRuleFor: AddressRuleFor;
  database: Database;
  seal: Encryptor;
  random: Random;
  metrics: Metrics;
}

/** Sends deliveries that are due. Stopping it aborts attempts under way; the next server to start repeats them. */
export function sendDeliveriesJob(parts: SendDeliveriesParts): Job {
  return new DeliverySender(parts).job;
}

class DeliverySender {
  readonly #parts: SendDeliveriesParts;
  readonly job: Job;
  /** Attempts under way, by the uid of their webhook. */
  readonly #underWay = new Map<string, { account: string | null; attempts: Set<Promise<void>> }>();
  /** Webhooks whose last attempt has failed. */
  readonly #failingWebhooks = new Set<string>();
  readonly #stopping = new AbortController();
  #cancelTimer = (): void => {};

  constructor(parts: SendDeliveriesParts) {
    this.#parts = parts;
    this.job = defineJob(parts, {
      name: 'send-deliveries',
      intervalMs: INTERVAL_MS,
      wakeOn: ['webhooks-due'],
      handle: () => this.#sendDue(),
      onStop: () => this.#abortAttempts(),
    });
  }

  async #abortAttempts(): Promise<void> {
    this.#cancelTimer();
    this.#stopping.abort();
    await Promise.all([...this.#underWay.values()].flatMap(({ attempts }) => [...attempts]));
  }

  /** Claims due deliveries and starts an attempt of each, without waiting for its end. Returns the number of attempts. */
  async #sendDue(): Promise<number> {
    const { database, clock } = this.#parts;
    this.#cancelTimer();
    let started = 0;
    for (const due of this.#inTurn(await listDueWebhooks(database.read, clock.now()))) {
      const { uid } = due;
      const room = Math.min(
        (this.#failingWebhooks.has(uid) ? 1 : PER_WEBHOOK_MAX) - this.#attemptsOf(uid),
        ACCOUNT_MAX - this.#attemptsOfAccount(due),
        TOTAL_MAX - this.#total(),
      );
      if (room <= 0) continue;
      const now = clock.now();
      // What a power cut takes back of it is sent again.
      const claimed = await database.transact(
        (tx) => claimDue(tx, uid, { now, until: now + CLAIM_MS, limit: room }),
        { durable: false },
      );
      for (const delivery of claimed) this.#start(delivery, due);
      started += claimed.length;
    }
    const next = await findNextDueTime(database.read);
    if (next === null) return started;
    const inMs = next - clock.now();
    if (inMs > 0 && inMs < INTERVAL_MS) this.#cancelTimer = clock.after(inMs, () => this.job.wake());
    return started;
  }

  /** First the account, and in it the webhook, with the fewest attempts under way. */
  #inTurn(due: readonly DueWebhook[]): DueWebhook[] {
    return due
      .map((one) => ({ one, account: this.#attemptsOfAccount(one), webhook: this.#attemptsOf(one.uid) }))
      .sort((a, b) => a.account - b.account || a.webhook - b.webhook)
      .map(({ one }) => one);
  }

  #attemptsOf(uid: string): number {
    return this.#underWay.get(uid)?.attempts.size ?? 0;
  }

  #attemptsOfAccount({ account }: DueWebhook): number {
    return this.#total((one) => one === account);
  }

  #total(counts = (_account: string | null): boolean => true): number {
    let total = 0;
    for (const { account, attempts } of this.#underWay.values()) if (counts(account)) total += attempts.size;
    return total;
  }

  #start(delivery: ClaimedDelivery, { uid, account }: DueWebhook): void {
    const { attempts } = this.#underWay.get(uid) ?? { attempts: new Set<Promise<void>>() };
    this.#underWay.set(uid, { account, attempts });
    const attempt: Promise<void> = this.#attempt(delivery)
      .catch((error: unknown) => {
        this.#parts.log.error(
          { delivery: delivery.id, error: errorMessage(error) },
          'A delivery to a webhook could not be made or written down; it will be tried again.',
        );
      })
      .finally(() => {
        attempts.delete(attempt);
        if (attempts.size === 0) this.#underWay.delete(uid);
        this.job.wake();
      });
    attempts.add(attempt);
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    const { database, seal, clock, metrics } = this.#parts;
    const webhook = await findWebhookByUid(database.read, delivery.webhook_uid);
    if (!webhook || webhook.disabled_at !== null) {
      await database.transact((tx) => giveUp(tx, delivery));
      return;
    }
    const at = clock.now();
    const headers = createSignatureHeaders({
      id: delivery.event_id,
      at,
      body: delivery.body,
      secrets: openSigningSecrets(seal, webhook, at),
    });
    const outcome = await sendDelivery(
      { ...this.#parts, allows: this.#parts.addressRuleFor(webhook.given_locally === 1) },
      { url: webhook.endpoint_url, headers, body: delivery.body },
      this.#stopping.signal,
    );
    if (this.#stopping.signal.aborted && outcome.status !== 'succeeded') {
      await database.transact((tx) => reschedule(tx, delivery, { next_at: at }));
      return;
    }
    metrics.webhookAttempts.inc({ status: outcome.status });
    if (outcome.status === 'succeeded') this.#failingWebhooks.delete(webhook.uid);
    else this.#failingWebhooks.add(webhook.uid);
    await this.#write(webhook, delivery, outcome, at);
    database.notify('webhooks-told');
  }

  /** What came of an attempt, and what follows from it. */
  async #write(
    webhook: WebhooksTable,
    delivery: ClaimedDelivery,
    outcome: DeliveryOutcome,
    at: number,
  ): Promise<void> {
    const { database, random, clock } = this.#parts;
    const now = clock.now();
    const attempt = delivery.attempts + 1;
    const isGone = outcome.httpStatus === GONE;
    const delay = WEBHOOK_RETRY_SECONDS[delivery.attempts];
    const retries = outcome.status !== 'succeeded' && !isGone && delay !== undefined;
    const next = retries
      ? now + Math.max(delay * 1000, Math.min(outcome.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX))
      : null;
    await database.transact(async (tx) => {
      const held =
        next === null
          ? await finishDelivery(tx, delivery)
          : await reschedule(tx, delivery, { attempts: attempt, next_at: next });
      // Somebody else sends it by now; this attempt has been made all the same.
      await insertConversation(tx, {
        id: makeId<ConversationId>(random, 'talk'),
        webhook_uid: webhook.uid,
        event_id: delivery.event_id,
        attempt,
        status: outcome.status,
        http_status: outcome.httpStatus,
        response_duration: outcome.durationMs,
        error: outcome.error,
        response_body: outcome.body,
        next_attempt_at: held ? next : null,
        created_at: at,
      });
      if (isGone) await updateWebhook(tx, webhook.uid, { disabled_at: now, updated_at: now });
    });
  }
}

async function giveUp(tx: Writer, delivery: ClaimedDelivery): Promise<void> {
  if (await finishDelivery(tx, delivery)) await removeEvents(tx, [delivery.event_id]);
}
