/**
 * Result files that remote workers upload before the request that ends their attempt. A worker may lie, so the files of an
 * attempt are bounded. They are removed once the attempt no longer holds its lease: it has ended, its run was queued again or
 * deleted, or its worker died.
 */
import type { Readable } from 'node:stream';
import { ATTEMPT_FILES_BYTES_MAX, ATTEMPT_FILES_MAX, UPLOAD_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { UploadId } from '@switchyard/contract/schemas/ids.ts';
import { formatAttemptKey } from '@switchyard/worker/execute/job.ts';
import { sql } from 'kysely';
import {
  countAttemptUploads,
  deleteAttemptUploads,
  insertUpload,
  listUploadAttempts,
} from '../../apps/uploads/store.ts';
import { storeStream } from '../../apps/uploads/store-stream.ts';
import type { Contents, PreparedContent } from '../../platform/blobs/contents.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Reader, Writer } from '../../platform/database/database.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { makeId, type Random } from '../../platform/random.ts';
import { RUNNING, type RunsTable } from '../store/schema.ts';
import { getLeasedRun } from './attempts.ts';

interface Parts {
  database: Database;
  contents: Contents;
  clock: Clock;
  random: Random;
}

type LeasedRun = Pick<RunsTable, 'id' | 'fence' | 'worker_id' | 'application_uid'>;

/** Stores the result files of attempts. */
export class AttemptFiles {
  readonly #parts: Parts;
  /** The last upload of each attempt. Uploads of one attempt follow each other, so that each knows the bytes of the others. */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Stores a result file of an attempt, and returns its id. Throws a 400 for more files or bytes than an attempt may have. Throws
   * a 404 when the lease has expired.
   */
  async store(run: LeasedRun, file: Readable): Promise<UploadId> {
    const key = formatAttemptKey(run);
    const previous = this.#underWay.get(key);
    const stored = (previous ?? Promise.resolve()).catch(() => {}).then(() => this.#store(run, key, file));
    this.#underWay.set(key, stored);
    try {
      return await stored;
    } finally {
      if (this.#underWay.get(key) === stored) this.#underWay.delete(key);
    }
  }

  async #store(run: LeasedRun, key: string, file: Readable): Promise<UploadId> {
    const { database, contents, clock, random } = this.#parts;
    const freeBytes = await readFreeBytes(database.read, key, 0);
    const content = await storeStream(contents, file, Math.min(UPLOAD_BYTES_MAX, freeBytes));
    const id = makeId<UploadId>(random, 'upl');
    try {
      await database.transact(async (tx) => {
        await this.#requireLease(tx, run);
        // Another server may have stored a file meanwhile.
        await readFreeBytes(tx, key, content.bytes);
        await content.insert(tx);
        await insertUpload(tx, {
          ...{ id, application_uid: run.application_uid, purpose: 'result', content_id: content.id },
          ...{ created_at: clock.now(), attempt: key, partial_bytes: 0, continued_at: null, run_id: null },
        });
      });
    } catch (error) {
      await discard(content);
      throw error;
    }
    return id;
  }

  async #requireLease(tx: Writer, { id, fence, worker_id }: LeasedRun): Promise<void> {
    await getLeasedRun(tx, { run_id: id, fence: String(fence), worker_id: worker_id ?? '' });
  }
}

const discard = (content: PreparedContent): Promise<void> => content.discard().catch(() => {});

/** Returns the bytes that the files of an attempt may still have; throws a 400 when `added` bytes are too many. */
async function readFreeBytes(db: Reader, attempt: string, added: number): Promise<number> {
  const { files, bytes } = await countAttemptUploads(db, attempt);
  const free = ATTEMPT_FILES_BYTES_MAX - bytes - added;
  if (files < ATTEMPT_FILES_MAX && free >= 0 && (added > 0 || free > 0)) return free;
  throw badRequest(
    `The attempt has ${files} result files with ${bytes} bytes; it may have at most ${ATTEMPT_FILES_MAX} files with ${ATTEMPT_FILES_BYTES_MAX} bytes together. End the attempt with the files that it has.`,
  );
}

const CLEAN_UP_INTERVAL_MS = 60_000;
/** Many runs end in a second. */
const DEBOUNCE_MS = 1000;
const BATCH_SIZE = 200;

/** Removes the result files of attempts that do not hold their lease any more. */
export function removeAttemptFilesJob(parts: JobContext & Pick<Parts, 'database' | 'contents'>): Job {
  const { database, contents } = parts;
  return defineJob<string>(parts, {
    name: 'remove-attempt-files',
    intervalMs: CLEAN_UP_INTERVAL_MS,
    debounceMs: DEBOUNCE_MS,
    wakeOn: ['runs-ended', 'runs-queued', 'workers-changed'],
    batchSize: BATCH_SIZE,
    listRows: (limit, after) => listUploadAttempts(database.read, limit, after),
    formatKey: (attempt) => attempt,
    async handleRow(attempt) {
      const blobs = await database.transact(async (tx) => {
        if (await holdsLease(tx, attempt)) return [];
        return contents.remove(tx, await deleteAttemptUploads(tx, attempt));
      });
      await contents.removeBlobs(blobs);
    },
  });
}

async function holdsLease(tx: Writer, attempt: string): Promise<boolean> {
  const [id = '', fence] = attempt.split(' ');
  const run = await tx
    .selectFrom('runs')
    .select('id')
    .where(sql<string>`id`, '=', id)
    .where('fence', '=', Number(fence))
    .where('status', '=', RUNNING)
    .executeTakeFirst();
  return run !== undefined;
}
