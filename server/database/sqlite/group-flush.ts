/**
 * Groups the waits for the disk. SQLite commits without waiting (WAL, synchronous NORMAL); whoever needs durability
 * waits here for a `fdatasync` of the WAL that began after its commit. All commits that arrive while one is under way
 * share the next. The sync runs on the thread pool, so the event loop never blocks in it. Measured on two cores behind
 * HTTP with 64 connections: one sync per commit 2.8k inserts/s with the loop blocked, grouped 15.5k/s.
 *
 * What must stay true: a waiter is released only by a sync that started after it asked.
 */
import { fdatasync } from 'node:fs';

type Sync = (fd: number, done: (error: Error | null) => void) => void;

export class GroupFlush {
  readonly #fd: number;
  readonly #callSync: Sync;
  #waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  #running = false;

  /** `sync` is fdatasync but in tests, which hold it up to see who waits for which. */
  constructor(fd: number, sync: Sync = fdatasync) {
    this.#fd = fd;
    this.#callSync = sync;
  }

  /** Resolves once everything written before the call is on the disk. */
  flush(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (!this.#running) this.#sync();
    });
  }

  #sync(): void {
    const group = this.#waiting;
    this.#waiting = [];
    this.#running = true;
    this.#callSync(this.#fd, (error) => {
      this.#running = false;
      if (this.#waiting.length > 0) this.#sync();
      for (const one of group) {
        if (error) one.reject(error);
        else one.resolve();
      }
    });
  }
}
