/** The changes that remote workers make: their registration, and what they store of the attempts whose lease they hold. */
import { ACCOUNT_WORKERS_MAX, TOKEN_WORKERS_MAX } from '@switchyard/contract/limits.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { LogBatch } from '@switchyard/contract/workers/attempt-schemas.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Writer } from '../../platform/database/database.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';
import { makeId, type Random } from '../../platform/random.ts';
import { writeLogBatch } from '../logs/log-batches.ts';
import type { RunsTable } from '../store/schema.ts';
import { countWorkersOfTokens } from '../workers/worker-tokens.ts';
import { deregisterWorker, markWorkerDraining, registerWorker, type Worker } from '../workers/workers.ts';

interface Parts {
  database: Database;
  clock: Clock;
  random: Random;
}

/** Throws a 400 when the token of the worker, or the account, has no place for another worker. */
async function requireFreePlace(tx: Writer, account: AccountId, { tokenId }: Worker): Promise<void> {
  const counts = await countWorkersOfTokens(tx, account);
  const all = counts.reduce((sum, { workers }) => sum + workers, 0);
  const own = counts.find(({ id }) => id === tokenId)?.workers ?? 0;
  if (own >= TOKEN_WORKERS_MAX)
    throw badRequest(
      `The worker token has ${own} registered workers, and may have ${TOKEN_WORKERS_MAX}. Stop some of them, or use another token.`,
    );
  if (all >= ACCOUNT_WORKERS_MAX)
    throw badRequest(
      `The worker tokens of the account have ${all} registered workers, and may have ${ACCOUNT_WORKERS_MAX}. Stop some of them.`,
    );
}

/** Stores what remote workers report. */
export class RemoteWorkers {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Registers a worker, and returns its id. Removes the earlier workers of its folder. Throws a 400 when its token or the account
   * has as many workers as it may have.
   */
  async register(account: AccountId, offered: Omit<Worker, 'id' | 'kind' | 'startedAt'>): Promise<string> {
    const { database, clock, random } = this.#parts;
    const id = makeId<string>(random, 'worker');
    const now = clock.now();
    const worker = { ...offered, id, kind: 'remote' as const, startedAt: now };
    await registerWorker(database, worker, now, (tx) => requireFreePlace(tx, account, worker));
    return id;
  }

  /** Sets the slots of a worker to 0, because it stops. */
  markStopping(id: string): Promise<void> {
    return markWorkerDraining(this.#parts.database, id);
  }

  /** Removes a worker; its remaining runs are requeued. */
  remove(id: string): Promise<void> {
    return deregisterWorker(this.#parts.database, id);
  }

  /** Stores lines of the log of an attempt, unless its lease has expired. */
  async writeLog(run: RunsTable, batch: LogBatch): Promise<void> {
    await writeLogBatch(this.#parts.database, run, batch);
  }
}
