/**
 * The order in which handshakes of TLS begin. Addresses take turns, and an address has few handshakes under way.
 *
 * Measured reasons, with 400 callers of one address that connect at one moment on two cores:
 * - A handshake takes half a millisecond. Begun at once, all of them kept other callers waiting for 200 ms. So a turn of the
 *   event loop begins handshakes for two milliseconds.
 * - The callers complete their handshakes at once too, and a completed one costs a millisecond with its session. One turn of
 *   the event loop took 250 to 700 ms. So an address has at most 8 handshakes that began in the last 100 ms and are
 *   not complete. Callers that never complete theirs delay other callers of their address by this time.
 * - With 16 under way, a turn took 20 to 30 ms, in which Node accepts one caller.
 * - Turns that accept a connection begin fewer; see accepts.ts.
 */
import { Accepts, type TurnShare } from './accepts.ts';

/** The time after which a turn of the event loop begins no other handshake. */
const TURN_MS = 2;
/** Handshakes of one address under way. */
const UNDER_WAY_MAX = 8;
/** The time after which a handshake counts as complete. */
const UNDER_WAY_MS = 100;

interface Caller {
  /** Each begins a handshake. */
  waiting: (() => void)[];
  underWay: number;
}

/** Handshakes by address. */
export class HandshakeQueue {
  /** In the order in which addresses take turns; those without a handshake are absent. */
  readonly #callers = new Map<string, Caller>();
  #isScheduled = false;
  readonly #getShare: () => TurnShare;

  constructor(accepts = new Accepts()) {
    this.#getShare = accepts.follow();
  }

  /** Begins a handshake of the address when its turn comes. `begin` gets a function to call when the handshake has ended. */
  add(address: string, begin: (end: () => void) => void): void {
    const caller = this.#callers.get(address) ?? { waiting: [], underWay: 0 };
    this.#callers.set(address, caller);
    caller.waiting.push(() => {
      caller.underWay += 1;
      let isUnderWay = true;
      const end = (): void => {
        if (!isUnderWay) return;
        isUnderWay = false;
        clearTimeout(timer);
        caller.underWay -= 1;
        if (caller.waiting.length > 0) this.#schedule();
        else if (caller.underWay === 0) this.#callers.delete(address);
      };
      const timer = setTimeout(end, UNDER_WAY_MS);
      timer.unref();
      begin(end);
    });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#beginSome());
  }

  #beginSome(): void {
    this.#isScheduled = false;
    const share = this.#getShare();
    if (share === 'nothing') {
      this.#schedule();
      return;
    }
    const turnEnd = performance.now() + (share === 'one' ? 0 : TURN_MS);
    let next = this.#removeNext();
    while (next) {
      next();
      if (performance.now() >= turnEnd) {
        this.#schedule();
        return;
      }
      next = this.#removeNext();
    }
  }

  /** Removes the next handshake that may begin, and moves its address behind the others. */
  #removeNext(): (() => void) | undefined {
    for (const [address, caller] of this.#callers) {
      if (caller.waiting.length === 0 || caller.underWay >= UNDER_WAY_MAX) continue;
      this.#callers.delete(address);
      this.#callers.set(address, caller);
      return caller.waiting.shift();
    }
    return undefined;
  }
}
