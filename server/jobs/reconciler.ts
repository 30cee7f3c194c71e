/**
 * Out-of-band work as a reconciler: an activation without input that looks at state and moves it one step. It is poked
 * for speed and runs periodically for safety, never twice at once; a poke during a run leads to one more run. Kill the
 * process between any two statements and the next activation carries on.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../clock.ts';
import { errorMessage, type Log } from '../log.ts';

export interface ReconcilerSettings {
  /** What it does, for the log. */
  name: string;
  intervalMs: number;
  clock: Clock;
  log: Log;
  /** One activation. What it throws is logged, and the next activation tries again. */
  run(): Promise<void>;
}

export class Reconciler {
  readonly #settings: ReconcilerSettings;
  #running: Promise<void> | null = null;
  #again = false;
  #stopped = true;
  #cancelTimer = (): void => {};
  #coming = false;
  /** Whoever pokes it, what it does is not part of what that one does. */
  readonly #apart = AsyncLocalStorage.snapshot();

  constructor(settings: ReconcilerSettings) {
    this.#settings = settings;
  }

  start(): void {
    this.#stopped = false;
    this.wake();
  }

  /** Runs now, or once more after the run that is under way. */
  wake(): void {
    if (this.#stopped) return;
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#cancelTimer();
    this.#running = this.#apart(() => this.#activate()).finally(() => {
      this.#running = null;
      if (this.#stopped) return;
      if (this.#again) {
        this.#again = false;
        this.wake();
        return;
      }
      this.#cancelTimer = this.#settings.clock.after(this.#settings.intervalMs, () => this.wake());
    });
  }

  /** Runs in that many milliseconds, once for all who ask until then: what comes together is looked at together. */
  wakeWithin(ms: number): void {
    if (this.#coming) return;
    this.#coming = true;
    this.#settings.clock.after(ms, () => {
      this.#coming = false;
      this.wake();
    });
  }

  /** No activation begins after this; resolves when the one under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer();
    await this.#running;
  }

  async #activate(): Promise<void> {
    try {
      await this.#settings.run();
    } catch (error) {
      this.#settings.log.error(
        { reconciler: this.#settings.name, error: errorMessage(error) },
        'A reconciler failed; it will run again.',
      );
    }
  }
}
