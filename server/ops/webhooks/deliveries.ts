/**
 * Sends due deliveries in parallel and stores the outcome of each attempt. The state in memory is the attempts under way
 * in this process. A webhook has up to 8 at a time, and 1 after a failed attempt until the next one succeeds. So a dead or
 * slow receiver delays no other, and gets one request at a time when it recovers. Runs are never changed.
 */
import { createSignatureHeaders } from '@switchyard/contract/account/proofs/webhook-signature.ts';
import { WEBHOOK_RETRY_SECONDS, WEBHOOK_TIMEOUT_MS } from '@switchyard/contract/limits.ts';
import type { ConversationId } from '@switchyard/contract/schemas/ids.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import type { Encryptor } from '../../platform/database/encryption.ts';
import type { Metrics } from '../../platform/http/metrics.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { errorMessage } from '../../platform/log.ts';
import { makeId, type Random } from '../../platform/random.ts';
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
import { decryptSigningSecrets } from './signature.ts';
import { findWebhookByUid, insertConversation, lockWebhook, updateWebhook } from './store.ts';

const INTERVAL_MS = 5000;
const PER_WEBHOOK_MAX = 8;
/** Concurrent attempts of all webhooks: each uses a connection and up to 64 KiB for a response. */
const TOTAL_MAX = 64;
/** Attempts of one account, so that receivers that do not respond do not delay other accounts. */
const ACCOUNT_MAX = TOTAL_MAX / 2;
/** Longer than an attempt with its transactions. */
const CLAIM_MS = 4 * WEBHOOK_TIMEOUT_MS;
/** The maximum delay that a receiver can request by Retry-After. */
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
  #stopping = new AbortController();
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
    // The job starts again when this server leads again.
    this.#stopping = new AbortController();
  }

  /** Claims due deliveries and starts an attempt of each, without waiting for its end. Returns the number of attempts. */
  async #sendDue(): Promise<number> {
    const { database, clock } = this.#parts;
    this.#cancelTimer();
    let started = 0;
    for (const due of this.#sortFairly(await listDueWebhooks(database.read, clock.now()))) {
      const { uid } = due;
      const limit = Math.min(
        (this.#failingWebhooks.has(uid) ? 1 : PER_WEBHOOK_MAX) - this.#countByWebhook(uid),
        ACCOUNT_MAX - this.#countByAccount(due),
        TOTAL_MAX - this.#countAttempts(),
      );
      if (limit <= 0) continue;
      const now = clock.now();
      // Not durable: after a power failure that undoes a claim, the next process claims the delivery again.
      const claimed = await database.transact(
        (tx) => claimDue(tx, uid, { now, until: now + CLAIM_MS, limit }),
        { durable: false },
      );
      // An event that is sent before it is on the disk is fanned out again after a power failure, under another id.
      if (claimed.length > 0) await database.whenDurable();
      for (const delivery of claimed) this.#start(delivery, due);
      started += claimed.length;
    }
    const next = await findNextDueTime(database.read);
    if (next === null) return started;
    const inMs = next - clock.now();
    if (inMs > 0 && inMs < INTERVAL_MS) this.#cancelTimer = clock.after(inMs, () => this.job.wake());
    return started;
  }

  /** Orders webhooks by the attempts under way of their account, then by their own: fewest first. */
  #sortFairly(due: readonly DueWebhook[]): DueWebhook[] {
    return due
      .map((one) => ({ one, account: this.#countByAccount(one), webhook: this.#countByWebhook(one.uid) }))
      .sort((a, b) => a.account - b.account || a.webhook - b.webhook)
      .map(({ one }) => one);
  }

  #countByWebhook(uid: string): number {
    return this.#underWay.get(uid)?.attempts.size ?? 0;
  }

  #countByAccount({ account }: DueWebhook): number {
    return this.#countAttempts((one) => one === account);
  }

  #countAttempts(counts = (_account: string | null): boolean => true): number {
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
          'Webhook delivery failed before its outcome was stored; it is retried when its claim expires',
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
      await database.transact((tx) => removeDelivery(tx, delivery));
      return;
    }
    const at = clock.now();
    const headers = createSignatureHeaders({
      id: delivery.event_id,
      at,
      body: delivery.body,
      secrets: decryptSigningSecrets(seal, webhook, at),
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
    await this.#storeOutcome(webhook, delivery, outcome, at);
    database.notify('webhooks-told');
  }

  /** Stores the outcome of an attempt and, after a failure, the time of the next one. */
  async #storeOutcome(
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
      // The clean-up of a webhook that was deleted during the attempt may be over; nothing would remove the conversation.
      if (!(await lockWebhook(tx, webhook.uid))) {
        await removeDelivery(tx, delivery);
        return;
      }
      const isClaimed =
        next === null
          ? await finishDelivery(tx, delivery)
          : await reschedule(tx, delivery, { attempts: attempt, next_at: next });
      // The attempt took place, so its conversation is stored even when another process has claimed the delivery since.
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
        next_attempt_at: isClaimed ? next : null,
        created_at: at,
      });
      if (isGone) await updateWebhook(tx, webhook.uid, { disabled_at: now, updated_at: now });
    });
  }
}

/** Removes a delivery whose webhook is deleted or disabled, and its event when nothing else refers to it. */
async function removeDelivery(tx: Writer, delivery: ClaimedDelivery): Promise<void> {
  if (await finishDelivery(tx, delivery)) await removeEvents(tx, [delivery.event_id]);
}
