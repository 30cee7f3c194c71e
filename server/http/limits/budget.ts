/**
 * Memory budgets. What one request holds has a limit of its own, but the sum over all requests is bounded only here: a
 * request holds its part of a budget before it takes the memory, and waits, in order, while there is none left. One holder
 * (a member of an account, or an address) gets half of a budget at most, so that one caller cannot use up what the others
 * need; what waits for its holder's share keeps nobody else waiting. Small parts do not wait behind large ones, and have no
 * more than a quarter of the budget while a large one waits.
 */
import type { Clock } from '../../clock.ts';
import { type Problem, tooManyRequests } from '../errors/problem.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Request bodies held in memory, as they arrive and until they are handled. */
export const BODY_BUDGET_BYTES = 64 * MIB;
/**
 * Parsed request bodies, counted by the bytes they were parsed from. The worst body, a list of empty objects, takes 21 bytes
 * of memory for each of its own.
 */
const PARSED_BUDGET_BYTES = 12 * MIB;
/** Responses on their way to the caller. */
export const RESPONSE_BUDGET_BYTES = 96 * MIB;
/** What handlers read from the database before they respond. */
const WORK_BUDGET_BYTES = 128 * MIB;

/** Larger parts leave a quarter of the budget to smaller ones. */
const SMALL_BYTES = 64 * KIB;
const LARGE_RESERVATION_SHARE = 0.75;

const WAIT_TIMEOUT_MS = 10_000;
const RETRY_AFTER_SECONDS = 2;
/** Requests that wait for the same budget. */
const WAITING_MAX = 4000;

export interface Reservation {
  /** Gives the part back; does nothing the second time. */
  release(): void;
}

interface Part {
  holder: string;
  bytes: number;
}

/** Which kinds of parts wait for other holders. */
interface Ahead {
  small: boolean;
  large: boolean;
}

interface Waiting extends Part {
  settle(hold: Reservation | null): void;
}

interface BudgetSettings {
  bytes: number;
  /** What is wrong, for the message of the 429. */
  sentence: string;
  clock: Clock;
}

export interface Budgets {
  bodies: Budget;
  parsed: Budget;
  work: Budget;
  responses: Budget;
  /** Counts requests with a token, not bytes: one member has half of the connections under way at most. */
  requests: Budget;
}

export function createBudgets(clock: Clock, connectionsMax: number): Budgets {
  const open = (bytes: number, sentence: string) => new Budget({ bytes, sentence, clock });
  const memory = (bytes: number, noun: string) => open(bytes, `The server has no memory left for ${noun}`);
  return {
    bodies: memory(BODY_BUDGET_BYTES, 'more request bodies'),
    parsed: memory(PARSED_BUDGET_BYTES, 'more parsed request bodies'),
    work: memory(WORK_BUDGET_BYTES, 'more requests at once'),
    responses: memory(RESPONSE_BUDGET_BYTES, 'more responses that are not read yet'),
    requests: open(
      connectionsMax,
      `The member has ${Math.floor(connectionsMax / 2)} requests under way, as many as one may have`,
    ),
  };
}

/** Whether memory that slow callers hold is waited for. */
export function isMemoryContended({ bodies, responses }: Budgets): boolean {
  const shortOfBodies = bodies.isContended;
  return responses.isContended || shortOfBodies;
}

export class Budget {
  readonly #settings: BudgetSettings;
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #total = 0;
  #small = 0;
  #isRefusing = false;

  constructor(settings: BudgetSettings) {
    this.#settings = settings;
  }

  /**
   * Whether requests wait for what other holders have, or were refused because of it since this was last read. One that
   * waits for its own share is no reason to hurry others.
   */
  get isContended(): boolean {
    const isRefusing = this.#isRefusing;
    this.#isRefusing = false;
    const ahead = this.#ahead();
    return isRefusing || ahead.small || ahead.large;
  }

  /** Holds the bytes as soon as there is room for them; throws the 429 after ten seconds without. */
  async reserve(holder: string, bytes: number, isGone: () => boolean): Promise<Reservation> {
    const part = { holder, bytes };
    const hold = this.#isNext(part) ? this.#take(part) : await this.#wait(part);
    if (hold === null) throw this.#refusal(part);
    // Nothing would release the part of a caller that is gone.
    if (isGone()) hold.release();
    return hold;
  }

  /** Holds the bytes, or throws the 429 when there is no room for them now. */
  reserveNow(holder: string, bytes: number): Reservation {
    const part = { holder, bytes };
    if (!this.#isNext(part)) throw this.#refusal(part);
    return this.#take(part);
  }

  /** Holds the bytes whether or not there is room: for what must not be refused any more. */
  reserveUnconditionally(holder: string, bytes: number): Reservation {
    return this.#take({ holder, bytes });
  }

  /** null after ten seconds without room, and at once where too many wait. */
  async #wait(part: Part): Promise<Reservation | null> {
    if (this.#waiting.size >= WAITING_MAX) return null;
    return new Promise((resolve) => {
      const settle = (hold: Reservation | null): void => {
        this.#waiting.delete(waiting);
        cancelTimer();
        resolve(hold);
      };
      const waiting: Waiting = { ...part, settle };
      const cancelTimer = this.#settings.clock.after(WAIT_TIMEOUT_MS, () => {
        settle(null);
        this.#admit();
      });
      this.#waiting.add(waiting);
    });
  }

  #isNext(part: Part): boolean {
    return this.#fitsShare(part) && this.#fits(part, this.#ahead());
  }

  #ahead(): Ahead {
    const ahead: Ahead = { small: false, large: false };
    for (const waiting of this.#waiting) if (this.#fitsShare(waiting)) ahead[kindOf(waiting)] = true;
    return ahead;
  }

  /** A part larger than a share is admitted alone. */
  #fitsShare({ holder, bytes }: Part): boolean {
    const own = this.#held.get(holder) ?? 0;
    return own === 0 || own + bytes <= this.#limitFor(bytes) / 2;
  }

  #fits(part: Part, ahead: Ahead): boolean {
    const { bytes } = part;
    const kind = kindOf(part);
    if (ahead[kind] || (this.#total > 0 && this.#total + bytes > this.#limitFor(bytes))) return false;
    return (
      kind === 'large' ||
      !ahead.large ||
      this.#small + bytes <= this.#settings.bytes * (1 - LARGE_RESERVATION_SHARE)
    );
  }

  #limitFor(bytes: number): number {
    return bytes > SMALL_BYTES ? this.#settings.bytes * LARGE_RESERVATION_SHARE : this.#settings.bytes;
  }

  #take(part: Part): Reservation {
    this.#add(part, part.bytes);
    let isHeld = true;
    return {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#add(part, -part.bytes);
        this.#admit();
      },
    };
  }

  #add(part: Part, bytes: number): void {
    this.#total += bytes;
    if (kindOf(part) === 'small') this.#small += bytes;
    const own = (this.#held.get(part.holder) ?? 0) + bytes;
    if (own === 0) this.#held.delete(part.holder);
    else this.#held.set(part.holder, own);
  }

  /** In the order in which they came. */
  #admit(): void {
    const ahead: Ahead = { small: false, large: false };
    for (const waiting of this.#waiting) {
      if (!this.#fitsShare(waiting)) continue;
      if (this.#fits(waiting, ahead)) waiting.settle(this.#take(waiting));
      else ahead[kindOf(waiting)] = true;
    }
  }

  #refusal(part: Part): Problem {
    if (this.#fitsShare(part)) this.#isRefusing = true;
    return tooManyRequests(`${this.#settings.sentence}; try again in ${RETRY_AFTER_SECONDS} s.`, {
      'retry-after': String(RETRY_AFTER_SECONDS),
    });
  }
}

function kindOf({ bytes }: Part): keyof Ahead {
  return bytes > SMALL_BYTES ? 'large' : 'small';
}
