/** The changes that remote workers make: their registration, and what they store of the attempts whose lease they hold. */
import type { LogBatch } from '@switchyard/contract/workers/attempt-schemas.ts';
import type { Clock } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import { makeId, type Random } from '../../random.ts';
import { deregisterWorker, markWorkerDraining, registerWorker, type Worker } from '../../workers/workers.ts';
import { writeLogBatch } from '../logs/log-batches.ts';
import type { RunsTable } from '../store/schema.ts';

interface Parts {
  database: Database;
  clock: Clock;
  random: Random;
}

/** Stores what remote workers report. */
export class RemoteWorkers {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Registers a worker, and returns its id. Removes the earlier workers of its folder. */
  async register(offered: Omit<Worker, 'id' | 'kind' | 'startedAt'>): Promise<string> {
    const { database, clock, random } = this.#parts;
    const id = makeId<string>(random, 'worker');
    const now = clock.now();
    await registerWorker(database, { ...offered, id, kind: 'remote', startedAt: now }, now);
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
