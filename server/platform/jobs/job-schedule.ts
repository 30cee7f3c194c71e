/**
 * Decides when a background job runs: when it starts, when it is woken, and at an interval after each run.
 *
 * Invariants: a job never runs twice at once in a process; a wake during a run leads to exactly one more run; no run begins
 * after `stop`.
 */
import type { Clock } from '../clock.ts';

export interface JobScheduleSettings {
  /** Time from the end of a run to the start of the next. */
  intervalMs: number;
  clock: Pick<Clock, 'after'>;
  /** One run. */
  run(): Promise<void>;
  /** Is called with the error of a run that nobody waits for. */
  onFailure(error: unknown): void;
}

/** Runs one job by its schedule. */
export class JobSchedule {
  readonly #settings: JobScheduleSettings;
  #running: Promise<void> | null = null;
  #isWoken = false;
  #isStarted = false;
  #hasPendingWake = false;
  #cancelTimer = (): void => {};

  constructor(settings: JobScheduleSettings) {
    this.#settings = settings;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  /** Runs now, or once more after the current run. Does nothing before `start` and after `stop`. */
  wake(): void {
    if (!this.#isStarted) return;
    if (this.#running) this.#isWoken = true;
    else this.#begin().catch(this.#settings.onFailure);
  }

  /** Runs in `ms`, once for all calls until then. */
  wakeWithin(ms: number): void {
    if (this.#hasPendingWake) return;
    this.#hasPendingWake = true;
    this.#settings.clock.after(ms, () => {
      this.#hasPendingWake = false;
      this.wake();
    });
  }

  /** Runs once, after the current run. Rejects with the error of the run. */
  async runOnce(): Promise<void> {
    while (this.#running) await this.#running;
    await this.#begin();
  }

  /** Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.#isStarted = false;
    this.#cancelTimer();
    await this.#running;
  }

  #begin(): Promise<void> {
    this.#cancelTimer();
    const run = this.#settings.run();
    const end = (): void => this.#end();
    this.#running = run.then(end, end);
    return run;
  }

  #end(): void {
    const isWoken = this.#isWoken;
    this.#running = null;
    this.#isWoken = false;
    if (!this.#isStarted) return;
    if (isWoken) this.wake();
    else this.#cancelTimer = this.#settings.clock.after(this.#settings.intervalMs, () => this.wake());
  }
}
