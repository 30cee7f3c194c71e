/** The changes that remote workers make: their registration, and what they store of the attempts whose lease they hold. */
import type { Readable } from 'node:stream';
import type { UploadId } from '@switchyard/contract/schemas/ids.ts';
import type { LogBatch } from '@switchyard/contract/workers/attempt-schemas.ts';
import { formatAttemptKey } from '@switchyard/worker/execute/job.ts';
import type { Contents } from '../../blobs/contents.ts';
import type { Clock } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import { makeId, type Random } from '../../random.ts';
import { insertUpload } from '../../uploads/store.ts';
import { storeStream } from '../../uploads/store-stream.ts';
import { deregisterWorker, markWorkerDraining, registerWorker, type Worker } from '../../workers/workers.ts';
import { writeLogBatch } from '../logs/log-batches.ts';
import type { RunsTable } from '../store/schema.ts';

interface Parts {
  database: Database;
  contents: Contents;
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

  /** Stores a result file of an attempt, and returns its id. It is removed after a day, like an upload. */
  async storeFile(run: RunsTable, file: Readable): Promise<UploadId> {
    const { database, contents, clock, random } = this.#parts;
    const content = await storeStream(contents, file);
    const id = makeId<UploadId>(random, 'upl');
    await database.transact(async (tx) => {
      await content.insert(tx);
      await insertUpload(tx, {
        ...{ id, application_uid: run.application_uid, purpose: 'result', content_id: content.id },
        ...{ created_at: clock.now(), attempt: formatAttemptKey(run) },
      });
    });
    return id;
  }
}
