/**
 * Memory budgets for all requests together. Each request also has a limit of its own, which does not bound the sum. A
 * request reserves its part of a budget before it allocates the memory, and waits in order while the budget is used up.
 *
 * Invariants:
 * - One key of a member, or one address, has at most half of a budget, so that one caller cannot use up the memory of the
 *   others. All keys of a member have an eighth more, for those that another one would shut out (member-share.ts). A part
 *   that waits for the share of its holder delays no other holder.
 * - Small parts do not wait behind large ones. While a large part waits, small ones have at most a quarter of the budget.
 */
import type { Clock } from '../../clock.ts';
import { type Problem, tooManyRequests } from '../errors/problem.ts';
import { SharedUse } from './member-share.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Request bodies in memory, from their first byte until the handler has returned. */
export const BODY_BUDGET_BYTES = 64 * MIB;
/**
 * Parsed request bodies, counted by the bytes of their JSON. The worst body, a list of empty objects, uses 21 bytes of
 * memory for each byte of JSON.
 */
const PARSED_BUDGET_BYTES = 12 * MIB;
/** Responses on their way to the caller. */
export const RESPONSE_BUDGET_BYTES = 96 * MIB;
/** Rows and content that handlers read before they respond. */
const WORK_BUDGET_BYTES = 128 * MIB;

/** Larger parts leave a quarter of the budget to smaller ones. */
const SMALL_PART_BYTES_MAX = 64 * KIB;
const LARGE_PARTS_SHARE = 0.75;

const WAIT_TIMEOUT_MS = 10_000;
const RETRY_AFTER_SECONDS = 2;
/** Requests that wait for the same budget. */
const WAITING_MAX = 4000;

/** A part of a budget that a request has. */
export interface Reservation {
  /** Returns the part to the budget; the second call does nothing. */
  release(): void;
}

interface Part {
  holder: string;
  bytes: number;
}

type PartSize = 'small' | 'large';

/** The sizes of parts that already wait for other holders. */
type WaitingSizes = Record<PartSize, boolean>;

interface WaitingPart extends Part {
  /** Ends the wait; null: without a reservation. */
  resolve(reservation: Reservation | null): void;
}

interface BudgetSettings {
  bytes: number;
  /** The first part of the message of the 429: the reason of the refusal. */
  reason: string;
  clock: Clock;
}

/** The budgets of one server process. */
export interface Budgets {
  bodies: Budget;
  parsed: Budget;
  work: Budget;
  responses: Budget;
  /** Counts active requests with a token, not bytes: one key has at most half of the connections. */
  requests: Budget;
}

/** Creates the budgets of a server that accepts up to `connectionsMax` connections. */
export function createBudgets(clock: Clock, connectionsMax: number): Budgets {
  const create = (bytes: number, reason: string) => new Budget({ bytes, reason, clock });
  const createForMemory = (bytes: number, noun: string) =>
    create(bytes, `The server has no memory left for ${noun}`);
  return {
    bodies: createForMemory(BODY_BUDGET_BYTES, 'more request bodies'),
    parsed: createForMemory(PARSED_BUDGET_BYTES, 'more parsed request bodies'),
    work: createForMemory(WORK_BUDGET_BYTES, 'more concurrent requests'),
    responses: createForMemory(RESPONSE_BUDGET_BYTES, 'more unread responses'),
    requests: create(
      connectionsMax,
      `The key or its member has too many active requests; a key can have ${Math.floor(connectionsMax / 2)}`,
    ),
  };
}

/** Returns true while requests wait for memory that slow callers can hold: that of bodies and of responses. */
export function isMemoryContended({ bodies, responses }: Budgets): boolean {
  // Both are read, because reading one clears its record of refusals.
  const areBodiesContended = bodies.isContended;
  return responses.isContended || areBodiesContended;
}

/** A number of bytes that requests share by the rules at the top of this file. */
export class Budget {
  readonly #settings: BudgetSettings;
  readonly #use = new SharedUse();
  readonly #waiting = new Set<WaitingPart>();
  #reservedBytes = 0;
  #smallPartBytes = 0;
  #hasRefused = false;

  constructor(settings: BudgetSettings) {
    this.#settings = settings;
  }

  /**
   * True while requests wait for the parts of other holders, or when one was refused because of them since the last read.
   * A request that waits for the share of its own holder does not count: closing other connections would not help it.
   */
  get isContended(): boolean {
    const hasRefused = this.#hasRefused;
    this.#hasRefused = false;
    const sizes = this.#findWaitingSizes();
    return hasRefused || sizes.small || sizes.large;
  }

  /** Reserves the bytes as soon as the budget has them; throws the 429 after a wait of ten seconds. */
  async reserve(holder: string, bytes: number, isDisconnected: () => boolean): Promise<Reservation> {
    const part = { holder, bytes };
    const reservation = this.#isNext(part) ? this.#acquire(part) : await this.#wait(part);
    if (reservation === null) throw this.#createRefusal(part);
    // The caller has disconnected: no later event would release the part.
    if (isDisconnected()) reservation.release();
    return reservation;
  }

  /** Reserves the bytes, or throws the 429 when the budget does not have them now. */
  reserveNow(holder: string, bytes: number): Reservation {
    const part = { holder, bytes };
    if (!this.#isNext(part)) throw this.#createRefusal(part);
    return this.#acquire(part);
  }

  /** Reserves the bytes even beyond the budget: for a request that can no longer be refused. */
  reserveUnconditionally(holder: string, bytes: number): Reservation {
    return this.#acquire({ holder, bytes });
  }

  /** Returns null after a wait of ten seconds, and at once when too many requests wait. */
  async #wait(part: Part): Promise<Reservation | null> {
    if (this.#waiting.size >= WAITING_MAX) return null;
    return new Promise((resolvePromise) => {
      const resolve = (reservation: Reservation | null): void => {
        this.#waiting.delete(waiting);
        cancelTimer();
        resolvePromise(reservation);
      };
      const waiting: WaitingPart = { ...part, resolve };
      const cancelTimer = this.#settings.clock.after(WAIT_TIMEOUT_MS, () => {
        resolve(null);
        this.#admitWaiting();
      });
      this.#waiting.add(waiting);
    });
  }

  #isNext(part: Part): boolean {
    return this.#fitsShare(part) && this.#fits(part, this.#findWaitingSizes());
  }

  #findWaitingSizes(): WaitingSizes {
    const sizes: WaitingSizes = { small: false, large: false };
    for (const waiting of this.#waiting) if (this.#fitsShare(waiting)) sizes[classifySize(waiting)] = true;
    return sizes;
  }

  /** A holder without other parts may reserve one that is larger than its share. */
  #fitsShare({ holder, bytes }: Part): boolean {
    return (
      this.#use.countMember(holder) === 0 || this.#use.fits(holder, bytes, this.#computeLimit(bytes) / 2)
    );
  }

  /** `sizesAhead` are the sizes of the parts that wait before this one. */
  #fits(part: Part, sizesAhead: WaitingSizes): boolean {
    const { bytes } = part;
    const size = classifySize(part);
    if (sizesAhead[size]) return false;
    // An unused budget admits a part of any size.
    if (this.#reservedBytes > 0 && this.#reservedBytes + bytes > this.#computeLimit(bytes)) return false;
    return (
      size === 'large' ||
      !sizesAhead.large ||
      this.#smallPartBytes + bytes <= this.#settings.bytes * (1 - LARGE_PARTS_SHARE)
    );
  }

  #computeLimit(bytes: number): number {
    return bytes > SMALL_PART_BYTES_MAX ? this.#settings.bytes * LARGE_PARTS_SHARE : this.#settings.bytes;
  }

  #acquire(part: Part): Reservation {
    this.#addBytes(part, part.bytes);
    let isReleased = false;
    return {
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.#addBytes(part, -part.bytes);
        this.#admitWaiting();
      },
    };
  }

  #addBytes(part: Part, bytes: number): void {
    this.#reservedBytes += bytes;
    if (classifySize(part) === 'small') this.#smallPartBytes += bytes;
    this.#use.add(part.holder, bytes);
  }

  /** Admits waiting parts in the order of their requests. */
  #admitWaiting(): void {
    const sizesAhead: WaitingSizes = { small: false, large: false };
    for (const waiting of this.#waiting) {
      if (!this.#fitsShare(waiting)) continue;
      if (this.#fits(waiting, sizesAhead)) waiting.resolve(this.#acquire(waiting));
      else sizesAhead[classifySize(waiting)] = true;
    }
  }

  #createRefusal(part: Part): Problem {
    if (this.#fitsShare(part)) this.#hasRefused = true;
    return tooManyRequests(`${this.#settings.reason}; try again in ${RETRY_AFTER_SECONDS} s.`, {
      'retry-after': String(RETRY_AFTER_SECONDS),
    });
  }
}

function classifySize({ bytes }: Part): PartSize {
  return bytes > SMALL_PART_BYTES_MAX ? 'large' : 'small';
}
