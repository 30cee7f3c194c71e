/**
 * `Idempotency-Key`: a repeated POST has no second effect and gets the response of the first one. The transaction of the
 * effect stores the response, so neither exists without the other. Of two concurrent requests, the second conflicts with
 * the row of the first, rolls back and gets the stored response. It gets it once the effect is on the disk.
 *
 * Responses can contain tokens and signed URLs, so the table stores them encrypted, for 24 hours.
 */
import { createHmac } from 'node:crypto';
import { IDEMPOTENCY_KEY_CHARS_MAX, IDEMPOTENCY_KEY_TTL_MS } from '@switchyard/contract/limits.ts';
import type { AccountId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Clock } from '../../clock.ts';
import type { Database, Writer } from '../../database/database.ts';
import { Encryptor } from '../../database/encryption.ts';
import { executeAll, type Migration } from '../../database/migrate.ts';
import { defineJob, type Job, type JobContext } from '../../jobs/define-job.ts';
import type { Random } from '../../random.ts';
import { badRequest, Problem, quoteValue } from '../errors/problem.ts';

const CLEAN_UP_INTERVAL_MS = 10 * 60 * 1000;
const CLEAN_UP_BATCH_SIZE = 500;

export interface StoredResponsesTable {
  account_id: AccountId;
  idempotency_key: string;
  /**
   * HMAC-SHA-256 over caller, operation, path, query and body; a plain hash would let a reader guess short secrets. It
   * covers the caller where the response contains a token, because a repeated request skips the checks of the handler.
   */
  fingerprint: string;
  status: number;
  /** The body in JSON, encrypted; null for a response without a body. */
  body: Uint8Array | null;
  created_at: number;
}

export const createTables: Migration['up'] = (db, { bytes }) =>
  executeAll(db, [
    sql`create table answers (
      account_id text not null, idempotency_key text not null, fingerprint text not null,
      status integer not null, body ${bytes}, created_at bigint not null,
      constraint answers_key primary key (account_id, idempotency_key)
    )`,
    sql`create index answers_by_age on answers (created_at)`,
  ]);

/** The stored part of a response. */
export interface StoredResponse {
  status: number;
  body?: unknown;
}

/** Rolls a transaction back because a concurrent request with the same key has committed. */
class RepeatedError extends Error {}

/** The properties by which two requests with the same key are the same request. */
interface RequestIdentity {
  account: AccountId;
  /** The only key that may read the response; null when every key of the account with the right may read it. */
  caller: KeyId | null;
  key: string;
  /** The run whose app made the request, whose keys are apart from those of all others; null for any other caller. */
  run: string | null;
  operation: string;
  path: string;
  body: Buffer;
}

interface Parts {
  database: Database;
  clock: Clock;
  random: Random;
  /** Encryption and HMAC key, 32 bytes. */
  key: Buffer;
}

/** Stores the responses of requests with an `Idempotency-Key`, and returns them to repeated requests. */
export class Idempotency {
  readonly #parts: Parts;
  readonly #encryptor: Encryptor;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#encryptor = new Encryptor(parts.key, parts.random);
  }

  /**
   * Returns the stored response of an earlier request with the same key, or the response of `handle`, which calls
   * `storeResponse` in the transaction of its effect. Throws a 400 for a malformed key, and for a key that a different
   * request used in the last 24 hours.
   */
  async runOnce<T extends StoredResponse>(
    request: RequestIdentity,
    handle: (storeResponse: (tx: Writer, response: StoredResponse) => Promise<void>) => Promise<T>,
  ): Promise<StoredResponse> {
    if (!/^[\x21-\x7e]+$/.test(request.key) || request.key.length > IDEMPOTENCY_KEY_CHARS_MAX) {
      throw badRequest(
        `The Idempotency-Key header is ${quoteValue(request.key)}; it must be 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} visible ASCII characters.`,
      );
    }
    const fingerprint = createHmac('sha256', this.#parts.key)
      .update(JSON.stringify([request.caller, request.operation, request.path]))
      .update(request.body)
      .digest('hex');
    const stored = await this.#find(request, fingerprint);
    if (stored) return this.#repeat(stored);
    try {
      return await handle((tx, response) => this.#insert(tx, request, fingerprint, response));
    } catch (error) {
      // A concurrent copy of the request may have caused the refusal: it has created the id that this one uses.
      const mayBeRepeated = error instanceof RepeatedError || error instanceof Problem;
      const first = mayBeRepeated ? await this.#find(request, fingerprint) : undefined;
      if (first) return this.#repeat(first);
      throw error;
    }
  }

  /** The sync after the first request may be under way, or may have failed; its response was then an error. */
  async #repeat(stored: StoredResponse): Promise<StoredResponse> {
    await this.#parts.database.whenDurable();
    return stored;
  }

  /** Returns the clean-up job that deletes stored responses after 24 hours. */
  removeExpiredResponsesJob(context: JobContext): Job {
    const { database } = this.#parts;
    return defineJob(context, {
      name: 'remove-expired-responses',
      intervalMs: CLEAN_UP_INTERVAL_MS,
      batchSize: CLEAN_UP_BATCH_SIZE,
      handle: (limit) => database.transact((tx) => this.#removeExpired(tx, limit), { durable: false }),
    });
  }

  async #removeExpired(tx: Writer, limit: number): Promise<number> {
    const before = this.#parts.clock.now() - IDEMPOTENCY_KEY_TTL_MS;
    const result = await tx
      .deleteFrom('answers')
      .where((eb) =>
        eb(
          eb.refTuple('account_id', 'idempotency_key'),
          'in',
          eb
            .selectFrom('answers')
            .select(['account_id', 'idempotency_key'])
            .where('created_at', '<', before)
            .limit(limit)
            .$asTuple('account_id', 'idempotency_key'),
        ),
      )
      .executeTakeFirst();
    return Number(result.numDeletedRows);
  }

  async #find(request: RequestIdentity, fingerprint: string): Promise<StoredResponse | undefined> {
    const { database, clock } = this.#parts;
    const row = await database.read
      .selectFrom('answers')
      .selectAll()
      .where('account_id', '=', request.account)
      .where('idempotency_key', '=', formatStoredKey(request))
      .where('created_at', '>=', clock.now() - IDEMPOTENCY_KEY_TTL_MS)
      .executeTakeFirst();
    if (!row) return undefined;
    if (row.fingerprint !== fingerprint) {
      throw badRequest(
        `The Idempotency-Key header is ${quoteValue(request.key)}, which another request had less than a day ago; use a new key for a new request.`,
      );
    }
    return {
      status: row.status,
      ...(row.body === null
        ? {}
        : {
            body: JSON.parse(this.#encryptor.decrypt(row.body, formatEncryptionContext(request))) as unknown,
          }),
    };
  }

  async #insert(
    tx: Writer,
    request: RequestIdentity,
    fingerprint: string,
    response: StoredResponse,
  ): Promise<void> {
    const now = this.#parts.clock.now();
    await tx
      .deleteFrom('answers')
      .where('account_id', '=', request.account)
      .where('idempotency_key', '=', formatStoredKey(request))
      .where('created_at', '<', now - IDEMPOTENCY_KEY_TTL_MS)
      .execute();
    const inserted = await tx
      .insertInto('answers')
      .values({
        account_id: request.account,
        idempotency_key: formatStoredKey(request),
        fingerprint,
        status: response.status,
        body:
          response.body === undefined
            ? null
            : this.#encryptor.encrypt(JSON.stringify(response.body), formatEncryptionContext(request)),
        created_at: now,
      })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (inserted.numInsertedOrUpdatedRows !== 1n)
      throw new RepeatedError('a concurrent request with this Idempotency-Key has committed');
  }
}

/** A key has no space, so no caller can name the key of a run. */
function formatStoredKey({ run, key }: RequestIdentity): string {
  return run === null ? key : `${run} ${key}`;
}

/** Binds a stored body to its row: it cannot be decrypted in another one. The text is part of stored data. */
function formatEncryptionContext(request: RequestIdentity): string[] {
  return ['answer', request.account, formatStoredKey(request)];
}
