/**
 * Simulates a queue in which runs need licence tokens. A run may then overtake one that waits for tokens, so the starts do not
 * follow from the queue order alone. The simulation goes from one end of a run to the next. It starts runs by the rules of
 * `plan-claims.ts`, in queue order. A run passes one that does not fit only if it does not delay it.
 */
import type { FreeTimes } from './free-times.ts';

/** Tokens of one licence, which is an index into the totals. */
export interface TokenCount {
  license: number;
  tokens: number;
}

/** A waiting run of the simulation. */
export interface LicensedRun {
  /** The indices of the pools that could execute it. */
  servedBy: readonly number[];
  tokens: readonly TokenCount[];
  /** The duration by which the server decides whether the run may overtake, in milliseconds. */
  expectedMs: number;
  /** The duration in this simulation, in milliseconds. */
  durationMs: number;
}

/** Tokens that a run occupies until its end. */
interface TokenHolder {
  tokens: readonly TokenCount[];
  end: number;
}

interface Situation {
  queues: readonly FreeTimes[];
  /** The total of each licence. */
  totals: readonly number[];
  holders: readonly TokenHolder[];
  now: number;
}

/** Returns the start of each run. `runs` is in queue order, and each of them has a pool and enough tokens in total. */
export function simulateLicensed(runs: readonly LicensedRun[], situation: Situation): Float64Array {
  const starts = new Float64Array(runs.length);
  const cluster = new LicensedCluster(situation);
  let waiting = [...runs.entries()];
  for (let time = situation.now; ; time = cluster.findNextEvent(time)) {
    cluster.releaseTokens(time);
    const round = new Round(cluster, time);
    waiting = waiting.filter(([index, run]) => {
      if (!round.tryStart(run)) return true;
      starts[index] = time;
      return false;
    });
    if (waiting.length === 0) return starts;
  }
}

/** The slots and tokens of the simulation. */
class LicensedCluster {
  readonly queues: readonly FreeTimes[];
  /** The free tokens of each licence. */
  readonly #free: number[];
  /** By end, the first one first. */
  readonly #holders: TokenHolder[];

  constructor({ queues, totals, holders }: Situation) {
    this.queues = queues;
    this.#free = [...totals];
    this.#holders = [...holders].sort((one, other) => one.end - other.end);
    for (const { tokens } of holders) this.#addFree(tokens, -1);
  }

  #addFree(counts: readonly TokenCount[], factor: 1 | -1): void {
    for (const { license, tokens } of counts)
      this.#free[license] = (this.#free[license] ?? 0) + factor * tokens;
  }

  releaseTokens(time: number): void {
    const count = this.#holders.findIndex(({ end }) => end > time);
    const ended = this.#holders.splice(0, count < 0 ? this.#holders.length : count);
    for (const { tokens } of ended) this.#addFree(tokens, 1);
  }

  hasTokens({ tokens: counts }: LicensedRun): boolean {
    return counts.every(({ license, tokens }) => tokens <= (this.#free[license] ?? 0));
  }

  /** Returns true if the run has its tokens at the time, beside another run that starts now and continues until then. */
  fitsTokensWith(run: LicensedRun, other: LicensedRun, time: number): boolean {
    return run.tokens.every(({ license, tokens }) => {
      let free = this.#free[license] ?? 0;
      for (const { end, tokens: counts } of this.#holders)
        if (end <= time) free += countTokens(counts, license);
      return tokens + countTokens(other.tokens, license) <= free;
    });
  }

  /** Returns the time at which the run has its tokens, if no other run takes them. */
  findTokenTime(run: LicensedRun, now: number): number {
    return Math.max(
      now,
      ...run.tokens.map(({ license, tokens }) => {
        let free = this.#free[license] ?? 0;
        if (tokens <= free) return now;
        for (const { end, tokens: counts } of this.#holders) {
          free += countTokens(counts, license);
          if (tokens <= free) return end;
        }
        return Number.POSITIVE_INFINITY;
      }),
    );
  }

  start(run: LicensedRun, pool: FreeTimes, time: number): void {
    const end = time + run.durationMs;
    pool.occupyFirst(end);
    if (run.tokens.length === 0) return;
    this.#addFree(run.tokens, -1);
    const index = this.#holders.findIndex((holder) => holder.end > end);
    this.#holders.splice(index < 0 ? this.#holders.length : index, 0, { tokens: run.tokens, end });
  }

  /** Returns the first time after `time` at which a slot or tokens become free. */
  findNextEvent(time: number): number {
    let next = this.#holders[0]?.end ?? Number.POSITIVE_INFINITY;
    for (const { first, second } of this.queues) {
      const free = first > time ? first : second;
      if (free > time && free < next) next = free;
    }
    return next;
  }
}

/** A start that runs after it in the queue must not delay. */
interface Reservation {
  run: LicensedRun;
  pool: number;
  time: number;
}

/** The starts at one time, in queue order. */
class Round {
  readonly #cluster: LicensedCluster;
  readonly #time: number;
  #hasFreeSlot: boolean;
  /** The reservation of the first run that did not fit. */
  #first: Reservation | null = null;
  /** The one of the first run that waits for the pool. */
  readonly #ofPools = new Map<number, Reservation>();

  constructor(cluster: LicensedCluster, time: number) {
    this.#cluster = cluster;
    this.#time = time;
    this.#hasFreeSlot = this.#findFreeSlot();
  }

  #findFreeSlot(): boolean {
    return this.#cluster.queues.some(({ first }) => first <= this.#time);
  }

  /** Starts the run if it fits and delays no run before it. Otherwise it may reserve its start. */
  tryStart(run: LicensedRun): boolean {
    if (!this.#hasFreeSlot) return false;
    const pool = this.#cluster.hasTokens(run) ? this.#findPool(run) : null;
    const queue = pool === null ? undefined : this.#cluster.queues[pool];
    if (queue === undefined) {
      this.#reserve(run);
      return false;
    }
    this.#cluster.start(run, queue, this.#time);
    this.#hasFreeSlot = this.#findFreeSlot();
    return true;
  }

  /** Returns the pool with the slot that has been free for longest and that the run may occupy. */
  #findPool(run: LicensedRun): number | null {
    let found: number | null = null;
    let freeSince = this.#time;
    for (const pool of run.servedBy) {
      const first = this.#cluster.queues[pool]?.first ?? Number.POSITIVE_INFINITY;
      if (first > freeSince || (found !== null && first === freeSince) || this.#delays(run, pool)) continue;
      found = pool;
      freeSince = first;
    }
    return found;
  }

  #delays(run: LicensedRun, pool: number): boolean {
    const ofPool = this.#ofPools.get(pool);
    return (
      (this.#first !== null && this.#delaysStart(this.#first, run, pool)) ||
      (ofPool !== undefined && ofPool !== this.#first && this.#delaysStart(ofPool, run, pool))
    );
  }

  #delaysStart({ run, pool, time }: Reservation, candidate: LicensedRun, ofCandidate: number): boolean {
    if (this.#time + candidate.expectedMs <= time) return false;
    if (!this.#cluster.fitsTokensWith(run, candidate, time)) return true;
    return pool === ofCandidate && (this.#cluster.queues[pool]?.second ?? 0) > time;
  }

  #reserve(run: LicensedRun): void {
    const isFirstOfPool = run.servedBy.some((pool) => !this.#ofPools.has(pool));
    if (this.#first && !isFirstOfPool) return;
    const tokensAt = this.#cluster.findTokenTime(run, this.#time);
    let reservation: Reservation | null = null;
    for (const pool of run.servedBy) {
      const time = Math.max(tokensAt, this.#cluster.queues[pool]?.first ?? Number.POSITIVE_INFINITY);
      if (!reservation || time < reservation.time) reservation = { run, pool, time };
    }
    if (!reservation) return;
    this.#first ??= reservation;
    for (const pool of run.servedBy) if (!this.#ofPools.has(pool)) this.#ofPools.set(pool, reservation);
  }
}

const countTokens = (counts: readonly TokenCount[], license: number): number =>
  counts.find((one) => one.license === license)?.tokens ?? 0;
