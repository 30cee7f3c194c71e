/**
 * The requests that wait for the end of a run. One statement after a notification finds the ended runs of all of them, so
 * a thousand waiting requests cost no more than one. It reads the rows of any process, as the streams of runs do.
 */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Topic } from '../../platform/database/database.ts';
import { PacedRounds } from '../../platform/http/streams/paced-rounds.ts';
import { errorMessage, type Log } from '../../platform/log.ts';
import { findRunStatuses } from '../store/runs.ts';

const TOPICS: readonly Topic[] = ['runs-canceled', 'runs-ended'];

interface Parts {
  database: Pick<Database, 'read' | 'listen'>;
  clock: Clock;
  log: Log;
}

/** A request that waits. */
interface Wait {
  run: RunId;
  /** The longest time to wait. */
  timeoutMs: number;
  /** Calls back when nobody reads the response any more; returns a function that ends this. */
  onDisconnect(callback: () => void): () => void;
}

/** The waiting requests of this process. */
export class RunWaits {
  readonly #parts: Parts;
  readonly #rounds: PacedRounds;
  readonly #waiting = new Map<RunId, Set<() => void>>();
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#rounds = new PacedRounds(parts.clock, () => this.#resolveEnded());
    for (const topic of TOPICS) parts.database.listen(topic, () => this.#rounds.wake());
  }

  /** Resolves when the run has ended or was deleted, after the timeout, and when the caller disconnects. Never throws. */
  async wait({ run, timeoutMs, onDisconnect }: Wait): Promise<void> {
    if (this.#isClosed) return;
    await new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(run) ?? new Set();
      this.#waiting.set(run, waiting);
      const end = (): void => {
        cancelTimeout();
        endListening();
        waiting.delete(end);
        if (waiting.size === 0) this.#waiting.delete(run);
        resolve();
      };
      const cancelTimeout = this.#parts.clock.after(timeoutMs, end);
      const endListening = onDisconnect(end);
      waiting.add(end);
      this.#rounds.start();
      // The run may have ended since the caller read its status.
      this.#rounds.wake();
    });
  }

  /** Ends all waits, now and from now on. Call it before the server stops to accept requests. */
  close(): void {
    this.#isClosed = true;
    this.#rounds.stop();
    for (const run of [...this.#waiting.keys()]) this.#resolve(run);
  }

  async #resolveEnded(): Promise<void> {
    const ids = [...this.#waiting.keys()];
    if (ids.length === 0) return this.#rounds.stop();
    const { database, log } = this.#parts;
    try {
      const statuses = await findRunStatuses(database.read, ids);
      for (const id of ids) {
        const status = statuses.get(id);
        if (status === undefined || isTerminal(status)) this.#resolve(id);
      }
    } catch (error) {
      log.warn({ error: errorMessage(error) }, 'Reading the runs that requests wait for failed.');
    }
  }

  #resolve(run: RunId): void {
    for (const end of [...(this.#waiting.get(run) ?? [])]) end();
  }
}
