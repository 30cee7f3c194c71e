/** A process of the simulated world: it has a clock, can be paused, and ends without a word. */
import type { Clock } from '../../server/platform/clock.ts';
import { EPOCH } from './host.ts';
import type { Scheduler } from './scheduler.ts';

/** Node's timers wait so long at least; the rest of a wait can be too short to move the clock. */
const TIMER_MS_MIN = 1;

/** A process with its own clock. */
export class SimulatedProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly #scheduler: Scheduler;
  #held: (() => void)[] | null = null;
  #isAlive = true;
  #clockOffset = 0;

  constructor(name: string, scheduler: Scheduler) {
    this.name = name;
    this.#scheduler = scheduler;
    this.clock = {
      now: () => Math.floor(EPOCH + scheduler.now + this.#clockOffset),
      elapsed: () => scheduler.now,
      processorTime: () => 0,
      after: (delayMs, callback) => this.after(Math.max(delayMs, TIMER_MS_MIN), '', callback),
    };
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isPaused(): boolean {
    return this.#held !== null;
  }

  /** Runs `run` in this process after the delay; later, when it is paused then, and never after its end. */
  after(delayMs: number, label: string, run: () => void): () => void {
    let isCanceled = false;
    const deliver = (): void =>
      this.deliver(() => {
        if (!isCanceled) run();
      });
    const cancel = this.#scheduler.after(delayMs, label, deliver, { joins: true });
    return () => {
      isCanceled = true;
      cancel();
    };
  }

  /** Runs `run` now, or when the process continues. */
  deliver(run: () => void): void {
    if (!this.#isAlive) return;
    if (this.#held) this.#held.push(run);
    else run();
  }

  pause(): void {
    this.#held ??= [];
  }

  continue(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const run of held) this.#scheduler.after(0, '', () => this.deliver(run));
  }

  kill(): void {
    this.#isAlive = false;
    this.#held = null;
  }

  /** Sets the wall clock ahead, or back. */
  moveClock(byMs: number): void {
    this.#clockOffset += byMs;
  }
}
