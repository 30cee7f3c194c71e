/**
 * Memory budgets. What one request holds has a limit of its own, but the sum over all requests is bounded only here: a
 * request holds its part of a budget before it takes the memory, and waits, in order, while there is none left. One holder
 * (a member of an account, or an address) gets half of a budget at most, so that one caller cannot use up what the others
 * need.
 */
import type { Clock } from '../clock.ts';
import { busy, type Problem } from './problem.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Request bodies held in memory, as they arrive and until they are handled. */
export const BODY_BUDGET_BYTES = 64 * MIB;
/**
 * Parsed request bodies, counted by the bytes they were parsed from. The worst body, a list of empty objects, takes 21 bytes
 * of memory for each of its own.
 */
export const PARSED_BUDGET_BYTES = 12 * MIB;
/** Responses on their way to the caller. */
export const RESPONSE_BUDGET_BYTES = 96 * MIB;
/** What handlers read from the database before they respond. */
export const WORK_BUDGET_BYTES = 128 * MIB;

/** Larger parts leave a quarter of the budget to smaller ones. */
const SMALL_BYTES = 64 * KIB;

const WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 2;
/** Requests that wait for the same budget. */
const WAITING_MAX = 4000;

export interface Hold {
  /** Gives the part back; does nothing the second time. */
  release(): void;
}

interface Waiting {
  holder: string;
  bytes: number;
  settle(hold: Hold | null): void;
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

export function openBudgets(clock: Clock, connectionsMax: number): Budgets {
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
export function isShort({ bodies, responses }: Budgets): boolean {
  const shortOfBodies = bodies.isShort;
  return responses.isShort || shortOfBodies;
}

export class Budget {
  readonly #settings: BudgetSettings;
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #total = 0;
  #refusals = 0;

  constructor(settings: BudgetSettings) {
    this.#settings = settings;
  }

  /** Whether a request waits for its part, or was refused since this was last read. */
  get isShort(): boolean {
    const refused = this.#refusals > 0;
    this.#refusals = 0;
    return refused || this.#waiting.size > 0;
  }

  /** Holds the bytes as soon as there is room for them; throws the 429 after ten seconds without. */
  async hold(holder: string, bytes: number, isGone: () => boolean): Promise<Hold> {
    if (this.#fits(holder, bytes)) return this.#take(holder, bytes);
    if (this.#waiting.size >= WAITING_MAX) throw this.#refusal();
    const hold = await new Promise<Hold | null>((resolve) => {
      const waiting: Waiting = {
        holder,
        bytes,
        settle: (given) => {
          this.#waiting.delete(waiting);
          cancelTimer();
          resolve(given);
        },
      };
      const cancelTimer = this.#settings.clock.after(WAIT_MS, () => waiting.settle(null));
      this.#waiting.add(waiting);
    });
    if (hold === null) throw this.#refusal();
    // The caller went away meanwhile; whoever is next gets its part.
    if (isGone()) hold.release();
    return hold;
  }

  /** Holds the bytes, or throws the 429 when there is no room for them now. */
  holdNow(holder: string, bytes: number): Hold {
    if (!this.#fits(holder, bytes)) throw this.#refusal();
    return this.#take(holder, bytes);
  }

  /** Holds the bytes whether or not there is room: for what must not be refused any more. */
  holdAnyway(holder: string, bytes: number): Hold {
    return this.#take(holder, bytes);
  }

  #fits(holder: string, bytes: number): boolean {
    return this.#fitsShare(holder, bytes) && this.#fitsTotal(bytes);
  }

  /** A part larger than a share is admitted alone. */
  #fitsShare(holder: string, bytes: number): boolean {
    const own = this.#held.get(holder) ?? 0;
    return own === 0 || own + bytes <= this.#limitFor(bytes) / 2;
  }

  #fitsTotal(bytes: number): boolean {
    return this.#total === 0 || this.#total + bytes <= this.#limitFor(bytes);
  }

  #limitFor(bytes: number): number {
    return bytes > SMALL_BYTES ? this.#settings.bytes * 0.75 : this.#settings.bytes;
  }

  #take(holder: string, bytes: number): Hold {
    this.#add(holder, bytes);
    let isHeld = true;
    return {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#add(holder, -bytes);
        this.#admit();
      },
    };
  }

  #add(holder: string, bytes: number): void {
    this.#total += bytes;
    const own = (this.#held.get(holder) ?? 0) + bytes;
    if (own === 0) this.#held.delete(holder);
    else this.#held.set(holder, own);
  }

  /** In the order in which they came; a holder whose share is used up keeps nobody else waiting. */
  #admit(): void {
    for (const waiting of this.#waiting) {
      if (!this.#fitsShare(waiting.holder, waiting.bytes)) continue;
      if (!this.#fitsTotal(waiting.bytes)) return;
      waiting.settle(this.#take(waiting.holder, waiting.bytes));
    }
  }

  #refusal(): Problem {
    this.#refusals += 1;
    return busy(`${this.#settings.sentence}; try again in ${RETRY_AFTER_SECONDS} s.`, {
      'retry-after': String(RETRY_AFTER_SECONDS),
    });
  }
}
