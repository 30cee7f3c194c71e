/**
 * Repeats a round of work after wake-ups and at an interval, at a bounded share of the thread. The pause after a round is
 * many times as long as the processor time of the round. So a thousand streams cost the thread 1.25 %, and one stream waits
 * for nothing. The time on the clock would also count waiting for PostgreSQL, which costs the thread nothing.
 */
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';

/** Collects the events of one moment. */
const PAUSE_MIN_MS = 40;
const PAUSE_MAX_MS = 2_000;
/** A pause lasts this many times as long as the processor time of the round before it. */
const PAUSE_FACTOR = 79;
/** Covers lost notifications. */
const SAFETY_INTERVAL_MS = 1_000;

/** The rounds of one kind of stream. */
export class PacedRounds {
  readonly #clock: Clock;
  readonly #work: () => Promise<void>;
  /** The earliest time of the next round. */
  #nextAt = 0;
  #isRunning = false;
  #isWoken = false;
  #isActive = false;
  #cancelTimer: (() => void) | null = null;
  /** Resolve at the end of the next round that begins. */
  #waiting: (() => void)[] = [];

  /** `work` never throws. */
  constructor(clock: Clock, work: () => Promise<void>) {
    this.#clock = clock;
    this.#work = work;
  }

  /** Begins a round as soon as the pause allows. Does nothing before `start`. */
  wake(): void {
    if (!this.#isActive || this.#isWoken) return;
    this.#isWoken = true;
    if (!this.#isRunning) this.#schedule();
  }

  /** Begins rounds. Does nothing when they have begun. */
  start(): void {
    if (this.#isActive) return;
    this.#isActive = true;
    this.wake();
  }

  /** Wakes a round that begins from now on, and waits for its end. Resolves at once while the rounds are stopped. */
  async waitForRound(): Promise<void> {
    if (!this.#isActive) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      this.wake();
    });
  }

  /** Ends the rounds until the next `start`, and all waits for a round. */
  stop(): void {
    this.#isActive = false;
    this.#isWoken = false;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #schedule(): void {
    this.#cancelTimer?.();
    const pauseMs = Math.max(0, this.#nextAt - this.#clock.elapsed());
    const delayMs = this.#isWoken ? pauseMs : Math.max(pauseMs, SAFETY_INTERVAL_MS);
    this.#cancelTimer = this.#clock.after(delayMs, () => void this.#run());
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#isWoken = false;
    const waiting = this.#waiting.splice(0);
    const before = this.#clock.processorTime();
    await this.#work();
    for (const resolve of waiting) resolve();
    // Node writes to the sockets after the turn that sent the bytes. The round includes that work.
    await setImmediate();
    const usedMs = this.#clock.processorTime() - before;
    this.#nextAt =
      this.#clock.elapsed() + Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, usedMs * PAUSE_FACTOR));
    this.#isRunning = false;
    if (this.#isActive) this.#schedule();
  }
}
