/**
 * Admits the requests of one run: a number at once, and at a rate. Further ones wait in order, up to a number and a time.
 * A run without end of requests therefore holds a bounded part of the process, of the server, and of its own time.
 */

/** The bounds of one run. */
export interface AdmissionLimits {
  /** Requests on their way to the server; it may change while requests wait. */
  activeMax(): number;
  waitingMax: number;
  waitMsMax: number;
  perSecond: number;
  burst: number;
}

interface Waiting {
  /** Called once: with true when the request may go on. */
  resolve(isAdmitted: boolean): void;
}

/** Admits requests within the limits; see the top of this file. */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #now: () => number;
  readonly #waiting = new Set<Waiting>();
  #active = 0;
  #tokens: number;
  #countedAt: number;
  #timer: NodeJS.Timeout | undefined;

  /** `now` returns milliseconds since an arbitrary instant. */
  constructor(limits: AdmissionLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#tokens = limits.burst;
    this.#countedAt = now();
  }

  /**
   * Resolves with true when the request may go on; call `leave` at its end. Resolves with false when too many wait, when it has
   * waited too long, and when `onGone` calls back because its caller has gone.
   */
  enter(onGone: (callback: () => void) => void): Promise<boolean> {
    if (this.#waiting.size === 0 && this.#acquire()) return Promise.resolve(true);
    if (this.#waiting.size >= this.#limits.waitingMax) return Promise.resolve(false);
    return new Promise((resolve) => {
      const waiting: Waiting = {
        resolve: (isAdmitted) => {
          if (!this.#waiting.delete(waiting)) return;
          clearTimeout(timer);
          resolve(isAdmitted);
        },
      };
      const timer = setTimeout(() => waiting.resolve(false), this.#limits.waitMsMax);
      this.#waiting.add(waiting);
      onGone(() => waiting.resolve(false));
      this.#admit();
    });
  }

  leave(): void {
    this.#active -= 1;
    this.#admit();
  }

  /** Refuses everything that waits. */
  close(): void {
    clearTimeout(this.#timer);
    for (const { resolve } of [...this.#waiting]) resolve(false);
  }

  #admit(): void {
    for (const { resolve } of [...this.#waiting]) {
      if (!this.#acquire()) break;
      resolve(true);
    }
    clearTimeout(this.#timer);
    if (this.#waiting.size === 0 || this.#active >= this.#limits.activeMax()) return;
    // They wait for the rate.
    const delayMs = Math.max(1, ((1 - this.#tokens) * 1000) / this.#limits.perSecond);
    this.#timer = setTimeout(() => this.#admit(), delayMs);
  }

  #acquire(): boolean {
    const now = this.#now();
    const refilled = this.#tokens + ((now - this.#countedAt) / 1000) * this.#limits.perSecond;
    this.#tokens = Math.min(this.#limits.burst, refilled);
    this.#countedAt = now;
    if (this.#active >= this.#limits.activeMax() || this.#tokens < 1) return false;
    this.#active += 1;
    this.#tokens -= 1;
    return true;
  }
}
