/**
 * The one thread of a simulation. It runs the event with the earliest time, waits until nothing is left to do at that time,
 * and jumps to the next event. Nothing else moves the time.
 *
 * Invariant: the order of everything that runs depends only on the seed. What Node runs by itself is either in a fixed order
 * (microtasks), in the queue of this file (`setImmediate`), or on the one thread of its pool (files). The scheduler waits for
 * that thread before it continues.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import type { Draws } from './draws.ts';
import { EventQueue, type TimedEvent } from './event-queue.ts';
import { nextTurn } from './real-machine.ts';

/** Lines of the trace that are kept for the report of a failure. */
const LAST_LINES_MAX = 400;
/** More events than any plan needs. */
const EVENTS_MAX = 500_000;
/** More events do not run together. */
const JOINED_MAX = 16;
/** More turns than any event needs. */
const TURNS_MAX = 200_000;

/** Runs the events of one simulation. */
export class Scheduler {
  readonly #queue = new EventQueue();
  readonly #immediates: (() => void)[] = [];
  readonly #ties: Draws;
  readonly #isBusy: () => boolean;
  /** Waits for what keeps the machine busy. */
  readonly #rest: () => Promise<void> | void;
  readonly #trace = createHash('sha256');
  readonly #keepsTrace: boolean;
  readonly lastLines: string[] = [];
  #now = 0;
  events = 0;
  /**
   * Events that join run together when this time at most is between them: what a server does for the first one takes time.
   * With 0 the work for each event ends before the next one.
   */
  overlapMs = 0;

  /** `isBusy` returns true while Node works on something by itself. */
  constructor(
    ties: Draws,
    isBusy: () => boolean,
    { keepsTrace = false, startsAt = 0, rest = (): Promise<void> | void => {} } = {},
  ) {
    this.#rest = rest;
    this.#now = startsAt;
    this.#ties = ties;
    this.#isBusy = isBusy;
    this.#keepsTrace = keepsTrace;
  }

  /** Milliseconds since the begin. */
  get now(): number {
    return this.#now;
  }

  /** Returns the hash of everything that happened. Call it once, at the end. */
  finishTrace(): string {
    return this.#trace.digest('hex').slice(0, 16);
  }

  /** Adds a line to the trace. */
  note(line: string): void {
    const text = `${this.#now.toFixed(3)} ${line}\n`;
    this.#trace.update(text);
    this.lastLines.push(text);
    if (!this.#keepsTrace && this.lastLines.length > 2 * LAST_LINES_MAX)
      this.lastLines.splice(0, LAST_LINES_MAX);
  }

  /** Runs `run` after the delay; the returned function cancels it. */
  after(delayMs: number, label: string, run: () => void, { joins = false } = {}): () => void {
    const event: TimedEvent = {
      at: this.#now + Math.max(0, Number.isFinite(delayMs) ? delayMs : 0),
      tie: this.#ties.share(),
      label,
      run: AsyncLocalStorage.bind(run),
      isCanceled: false,
      joins,
    };
    this.#queue.add(event);
    return () => {
      event.isCanceled = true;
    };
  }

  /** Runs `run` in this moment, after what runs already. */
  soon(run: () => void): { cancel(): void } {
    let isCanceled = false;
    const bound = AsyncLocalStorage.bind(run);
    this.#immediates.push(() => isCanceled || bound());
    return {
      cancel: () => {
        isCanceled = true;
      },
    };
  }

  /** Resolves once nothing is left to do at this time. */
  async settle(): Promise<void> {
    for (let turns = 0; ; ) {
      await nextTurn();
      if (turns > TURNS_MAX) throw new Error('One event never comes to its end.');
      // A busy machine may take long for the work of a thread.
      if (this.#isBusy()) {
        await this.#rest();
        continue;
      }
      turns += 1;
      const next = this.#immediates.shift();
      if (!next) return;
      next();
    }
  }

  /** Runs the next event, and does not wait for what it begins. */
  #runFirst(): void {
    const event = this.#queue.take();
    if (!event) return;
    this.#now = event.at;
    this.events += 1;
    if (this.events > EVENTS_MAX) throw new Error('The events do not come to an end.');
    if (event.label !== '') this.note(event.label);
    event.run();
  }

  /** Runs what arrives until the time while the server is at work. */
  #runJoining(latest: number): void {
    for (let joined = 0; joined < JOINED_MAX; joined += 1) {
      const next = this.#queue.peek();
      if (!next?.joins || next.at > latest || this.#ties.happens(0.3)) return;
      this.#runFirst();
    }
  }

  /** Runs events until the condition holds, or the time is reached. Calls `afterEach` after each event. */
  async run(until: { time?: number; isDone?(): boolean }, afterEach?: () => void): Promise<void> {
    await this.settle();
    for (;;) {
      if (until.isDone?.()) return;
      const next = this.#queue.peek();
      if (!next) {
        if (until.time === undefined) throw new Error('Nothing happens any more.');
        this.#now = until.time;
        return;
      }
      if (until.time !== undefined && next.at > until.time) {
        this.#now = until.time;
        return;
      }
      this.#runFirst();
      const latest = Math.min(until.time ?? next.at + this.overlapMs, next.at + this.overlapMs);
      if (next.joins && this.overlapMs > 0) this.#runJoining(latest);
      await this.settle();
      afterEach?.();
    }
  }
}
