/**
 * `Idempotency-Key`: a POST that is sent again, because its answer never arrived, has no second effect and gets the first
 * answer. The answer is written in the transaction of the effect, so there is no moment at which one is there without the
 * other; of two that come at once, the second fails on the first one's row, is rolled back, and gets its answer.
 *
 * Answers may hold tokens and signed URLs, so they are encrypted where they lie. They are kept for 24 hours.
 */
import { createHmac } from 'node:crypto';
import { IDEMPOTENCY_KEY_CHARS_MAX, IDEMPOTENCY_KEY_TTL_MS } from '@switchyard/contract/limits.ts';
import type { AccountId, KeyId } from '@switchyard/contract/schemas/ids.ts';
import type { Clock } from '../../clock.ts';
import type { Database, Writer } from '../../database/database.ts';
import { Encryptor } from '../../database/encryption.ts';
import type { Migration } from '../../database/migrate.ts';
import { defineJob, type Job, type JobContext } from '../../jobs/define-job.ts';
import type { Random } from '../../random.ts';
import { badRequest, Problem, quoteValue } from '../errors/problem.ts';

const CLEAN_UP_INTERVAL_MS = 10 * 60 * 1000;
const CLEAN_UP_BATCH_SIZE = 500;

interface AnswersTable {
  account_id: AccountId;
  idempotency_key: string;
  /**
   * HMAC-SHA-256 over caller, operation, path, query and body: a plain hash would let short secrets in a body be guessed.
   * The caller is part of it where the answer holds a token: the handler that says who may have it is not asked again.
   */
  fingerprint: string;
  status: number;
  /** The body in JSON, encrypted; null when there was none. */
  body: Uint8Array | null;
  created_at: number;
}

declare module '../../database/database.ts' {
  interface Tables {
    answers: AnswersTable;
  }
}

export const migrations: readonly Migration[] = [
  {
    name: '0009-answers',
    async up(db, types) {
      await db.schema
        .createTable('answers')
        .addColumn('account_id', 'text', (column) => column.notNull())
        .addColumn('idempotency_key', 'text', (column) => column.notNull())
        .addColumn('fingerprint', 'text', (column) => column.notNull())
        .addColumn('status', 'integer', (column) => column.notNull())
        .addColumn('body', types.bytes)
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('answers_key', ['account_id', 'idempotency_key'])
        .execute();
      await db.schema.createIndex('answers_by_age').on('answers').column('created_at').execute();
    },
  },
];

/** An answer as it goes out. */
export interface StoredResponse {
  status: number;
  body?: unknown;
}

/** Thrown inside a transaction when the same key had an effect meanwhile; it rolls the second effect back. */
class RepeatedError extends Error {}

export interface RequestIdentity {
  account: AccountId;
  /** Whose answer it is alone; null for one that anyone of the account may have who may make the request. */
  caller: KeyId | null;
  key: string;
  operation: string;
  path: string;
  body: Buffer;
}

interface Parts {
  database: Database;
  clock: Clock;
  random: Random;
  /** 32 bytes. */
  key: Buffer;
}

export class Idempotency {
  readonly #parts: Parts;
  readonly #seal: Encryptor;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#seal = new Encryptor(parts.key, parts.random);
  }

  /**
   * Returns the stored response of an earlier request with the same key, or responds by `handle`, which calls
   * `storeResponse` in the transaction of its effect. Throws a 400 for a malformed key, and for one that another request
   * used less than a day ago.
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
    if (stored) return stored;
    try {
      return await handle((tx, response) => this.#insert(tx, request, fingerprint, response));
    } catch (error) {
      // A refusal may come from the effect of the same request, sent at the same time: its id exists by now.
      const mayBeRepeated = error instanceof RepeatedError || error instanceof Problem;
      const first = mayBeRepeated ? await this.#find(request, fingerprint) : undefined;
      if (first) return first;
      throw error;
    }
  }

  /** Removes stored responses after 24 hours. */
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
      .where('idempotency_key', '=', request.key)
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
        : { body: JSON.parse(this.#seal.decrypt(row.body, placeOf(request))) as unknown }),
    };
  }

  async #insert(
    tx: Writer,
    request: RequestIdentity,
    fingerprint: string,
    answer: StoredResponse,
  ): Promise<void> {
    const now = this.#parts.clock.now();
    await tx
      .deleteFrom('answers')
      .where('account_id', '=', request.account)
      .where('idempotency_key', '=', request.key)
      .where('created_at', '<', now - IDEMPOTENCY_KEY_TTL_MS)
      .execute();
    const inserted = await tx
      .insertInto('answers')
      .values({
        account_id: request.account,
        idempotency_key: request.key,
        fingerprint,
        status: answer.status,
        body:
          answer.body === undefined
            ? null
            : this.#seal.encrypt(JSON.stringify(answer.body), placeOf(request)),
        created_at: now,
      })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (inserted.numInsertedOrUpdatedRows !== 1n) throw new RepeatedError('the key had an effect meanwhile');
  }
}

function placeOf(request: RequestIdentity): string[] {
  return ['answer', request.account, request.key];
}
