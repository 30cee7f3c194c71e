/**
 * Runs checkpoints in a thread (checkpoint-thread.ts), once a second while enough of the WAL is not in the database file. The
 * thread starts with the first checkpoint, because it takes a tenth of the start of a server.
 *
 * Invariant: no failure of the thread reaches the process. A host without a free descriptor or memory cannot start it; the
 * next checkpoint tries again, and meanwhile the WAL grows.
 */
import { fstatSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../clock.ts';
import type { CheckpointThreadData } from './checkpoint-thread.ts';

const CHECKPOINT_INTERVAL_MS = 1000;
/** Less in the WAL than this waits for more, or for the close of the database. */
const CHECKPOINT_MIN_BYTES = 4 * 1024 * 1024;
/**
 * Minimum length of the WAL, and the length from which it restarts at its beginning. A sync of overwritten bytes needs no
 * commit of the file system's journal. That commit would wait for every new file and folder of other processes, above all
 * those of runs.
 */
export const WAL_BYTES = 32 * 1024 * 1024;
/** Writers wait for a checkpoint while the WAL is longer, because they can be faster than the disk. */
const WAL_BYTES_MAX = 64 * 1024 * 1024;

interface CheckpointParts {
  /** Descriptor of the WAL. */
  wal: number;
  connection: DatabaseSync;
  clock: Clock;
  checkpointer: Checkpointer;
}

/** Moves the WAL into the database file. */
export interface Checkpointer {
  /** Resolves once the checkpoint has ended, or has failed. */
  checkpoint(): Promise<void>;
  stop(): Promise<void>;
}

interface Checkpoints {
  /** Returns the end of the checkpoint for which writers wait; null for none. */
  keepUp(): Promise<void> | null;
  stop(): Promise<void>;
}

/** Starts checkpoints of the database whose WAL has the descriptor. */
export function startCheckpoints({ wal, connection, clock, checkpointer }: CheckpointParts): Checkpoints {
  const pageBytes = Number(connection.prepare('pragma page_size').get()?.page_size);
  // The length of the file does not show it, because the file is not shorter than WAL_BYTES.
  const progress = connection.prepare('pragma wal_checkpoint(noop)');
  const check = (): void => {
    const { log, checkpointed } = progress.get() ?? {};
    if ((Number(log) - Number(checkpointed)) * pageBytes >= CHECKPOINT_MIN_BYTES)
      void checkpointer.checkpoint();
    cancelCheck = clock.after(CHECKPOINT_INTERVAL_MS, check);
  };
  let cancelCheck = clock.after(CHECKPOINT_INTERVAL_MS, check);
  return {
    keepUp: () => (fstatSync(wal).size > WAL_BYTES_MAX ? checkpointer.checkpoint() : null),
    async stop() {
      cancelCheck();
      await checkpointer.stop();
    },
  };
}

/** The thread, which starts with its first checkpoint, and again after it has failed. */
export class CheckpointThread implements Checkpointer {
  readonly #start: () => Worker;
  #worker: Worker | null = null;
  #running: PromiseWithResolvers<void> | null = null;

  /** Returns the thread of the database at the path. */
  static open(path: string): CheckpointThread {
    return new CheckpointThread(() => startCheckpointThread(path));
  }

  constructor(start: () => Worker) {
    this.#start = start;
  }

  /** Resolves once the checkpoint has ended, or the thread has failed. Calls during a checkpoint share it. */
  checkpoint(): Promise<void> {
    if (this.#running) return this.#running.promise;
    const running = Promise.withResolvers<void>();
    this.#running = running;
    try {
      this.#worker ??= this.#startWorker();
      this.#worker.postMessage('checkpoint');
    } catch {
      this.#finish();
    }
    return running.promise;
  }

  async stop(): Promise<void> {
    await this.#worker?.terminate();
  }

  #startWorker(): Worker {
    const worker = this.#start();
    worker.unref();
    worker.on('message', () => this.#finish());
    // An error event without a listener ends the process. The exit follows.
    worker.on('error', () => {});
    worker.once('exit', () => {
      this.#worker = null;
      this.#finish();
    });
    return worker;
  }

  #finish(): void {
    this.#running?.resolve();
    this.#running = null;
  }
}

/** Starts the thread that moves the WAL of the database at the path. */
function startCheckpointThread(path: string): Worker {
  return new Worker(new URL('./checkpoint-thread.ts', import.meta.url), {
    workerData: { path, restartBytes: WAL_BYTES } satisfies CheckpointThreadData,
  });
}
