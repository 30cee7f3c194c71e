/**
 * Simulates a queue once. The simulation goes from one end of a run to the next, and starts runs as the claims do. Each start is
 * of the turns that `chooseTurns` returns for the slots in use at that time. A run that waits for licence tokens may be
 * overtaken by the rules of `plan-claims.ts`: only by a run that does not delay it.
 */
import { sliceByMinute } from '../../../accounts/usage/slot-times.ts';
import { chooseTurns, type TurnsView } from '../order/fair-order.ts';
import { compareAge, createQueuePosition, type QueuePosition } from '../order/queue-position.ts';
import { EndTimes } from './end-times.ts';
import type { FreeTimes } from './free-times.ts';
import type { SimulatedUse } from './simulated-use.ts';

/** Tokens of one licence, which is an index into the totals. */
export interface TokenCount {
  license: number;
  tokens: number;
}

/** The account and the application of a run. */
export interface SimulatedOwner {
  account: SimulatedUse;
  application: SimulatedUse;
}

/** A waiting run of the simulation. */
export interface SimulatedRun {
  /** Its index in the starts. */
  index: number;
  position: QueuePosition;
  /** True if the duration is unknown: nothing is known about starts in its component after its own. */
  isUnknown: boolean;
  /** True if the runs of its lane after it are not read. Then later starts in its component are not simulated. */
  hasMore: boolean;
}

/** Waiting runs of an application with the same priority and needs, oldest first. A slot that serves one serves all. */
export interface SimulatedLane<Run extends SimulatedRun> {
  owner: SimulatedOwner;
  runs: readonly Run[];
  /** The indices of the pools that could execute them. */
  servedBy: readonly number[];
  tokens: readonly TokenCount[];
  /** The duration by which the server decides whether a run may overtake, in milliseconds. */
  expectedMs: number;
  /** Lanes of different components never compete for slots or tokens. */
  component: number;
}

/** A run that occupies a slot until its end. */
export interface OccupiedSlot {
  owner: SimulatedOwner;
  startedAt: number;
  end: number;
}

/** Tokens that a run occupies until its end. */
export interface HeldTokens {
  tokens: readonly TokenCount[];
  end: number;
}

export interface SimulatedSituation<Run extends SimulatedRun> {
  /** By priority, the lowest number first, and then by account. */
  levels: readonly (readonly (readonly SimulatedLane<Run>[])[])[];
  pools: readonly FreeTimes[];
  running: readonly OccupiedSlot[];
  /** The total of each licence. */
  totals: readonly number[];
  holders: readonly HeldTokens[];
  /** The components with a running run whose end is unknown. */
  unknown: ReadonlySet<number>;
  now: number;
  draw(run: Run): number;
}

/** The start of a run that is after the last one that is simulated. */
export const AFTER_LAST = Number.MAX_VALUE;
/** The start of a run that never starts. */
export const NEVER = Number.POSITIVE_INFINITY;
/** The start of a run after one whose duration is unknown. */
const UNKNOWN = Number.NaN;

interface LaneState<Run extends SimulatedRun> {
  lane: SimulatedLane<Run>;
  next: number;
  /** The number of the round in which its next run did not fit. */
  tried: number;
}

/** Simulates the starts, and writes them by the indices of the runs. The uses of the owners must be reset before. */
export function simulateQueue<Run extends SimulatedRun>(
  situation: SimulatedSituation<Run>,
  starts: Float64Array,
): void {
  new Simulation(situation, starts).run();
}

class Simulation<Run extends SimulatedRun> {
  readonly #situation: SimulatedSituation<Run>;
  readonly #starts: Float64Array;
  readonly #cluster: Cluster;
  readonly #levels: LaneState<Run>[][][];
  readonly #running = new EndTimes<OccupiedSlot>();
  /** The components that end after this round, and the start of their other runs. */
  readonly #closing = new Map<number, number>();
  readonly #closed = new Set<number>();
  readonly #view: TurnsView<LaneState<Run>>;
  #time: number;
  #round = 0;
  #left = 0;

  constructor(situation: SimulatedSituation<Run>, starts: Float64Array) {
    this.#situation = situation;
    this.#starts = starts.fill(NEVER);
    this.#cluster = new Cluster(situation);
    this.#time = situation.now;
    this.#levels = situation.levels.map((level) =>
      level.map((lanes) => lanes.map((lane) => ({ lane, next: 0, tried: 0 }))),
    );
    for (const lanes of situation.levels.flat(2)) this.#left += lanes.runs.length;
    for (const run of situation.running) this.#running.add(run);
    for (const component of situation.unknown) this.#closing.set(component, UNKNOWN);
    this.#view = {
      findAccountUse: ({ lane }) => lane.owner.account.find(this.#time),
      findApplicationUse: (state) =>
        this.#canTry(state) ? state.lane.owner.application.find(this.#time) : Number.POSITIVE_INFINITY,
      compareFirst: (one, other) => compareAge(findFirst(one), findFirst(other)),
    };
  }

  run(): void {
    while (true) {
      this.#endRuns();
      this.#startRuns();
      this.#close();
      if (this.#left === 0) return;
      this.#time = Math.min(this.#running.first, this.#cluster.firstRelease);
      if (this.#time === Number.POSITIVE_INFINITY) return;
    }
  }

  #endRuns(): void {
    while (this.#running.first <= this.#time) {
      const run = this.#running.removeFirst();
      if (!run) break;
      const minutes = sliceByMinute(run.startedAt, run.end);
      run.owner.account.end(minutes, run.end);
      run.owner.application.end(minutes, run.end);
    }
    this.#cluster.releaseTokens(this.#time);
  }

  #startRuns(): void {
    this.#round += 1;
    const round = new Round(this.#cluster, this.#time);
    while (round.hasFreeSlot) {
      const state = this.#choose();
      if (!state) return;
      const run = state.lane.runs[state.next];
      const end = run ? round.tryStart(state.lane, () => this.#situation.draw(run)) : null;
      if (run && end !== null) this.#start(state, run, end);
      else state.tried = this.#round;
    }
  }

  #choose(): LaneState<Run> | null {
    for (const level of this.#levels) {
      const state = chooseTurns(level, this.#view);
      if (state) return state;
    }
    return null;
  }

  #canTry({ lane, next, tried }: LaneState<Run>): boolean {
    return (
      next < lane.runs.length &&
      tried !== this.#round &&
      !this.#closed.has(lane.component) &&
      // Without licences no later run can delay it, so it needs no reservation.
      (this.#situation.totals.length > 0 || this.#cluster.hasFreeSlot(lane.servedBy, this.#time))
    );
  }

  #start(state: LaneState<Run>, run: Run, end: number): void {
    const { lane } = state;
    this.#starts[run.index] = this.#time;
    state.next += 1;
    this.#left -= 1;
    lane.owner.account.start();
    lane.owner.application.start();
    this.#running.add({ owner: lane.owner, startedAt: this.#time, end });
    if (run.isUnknown) this.#closing.set(lane.component, UNKNOWN);
    else if (run.hasMore && !this.#closing.has(lane.component)) this.#closing.set(lane.component, AFTER_LAST);
  }

  #close(): void {
    for (const [component, start] of this.#closing) {
      this.#closed.add(component);
      for (const { lane, next } of this.#levels.flat(2)) {
        if (lane.component !== component) continue;
        for (const { index } of lane.runs.slice(next)) this.#starts[index] = start;
        this.#left -= lane.runs.length - next;
      }
    }
    this.#closing.clear();
  }
}

/** The position of the next run of a lane that has one. */
function findFirst<Run extends SimulatedRun>({ lane, next }: LaneState<Run>): QueuePosition {
  return lane.runs[next]?.position ?? createQueuePosition(0, 0, '');
}

/** The needs of the runs of a lane. */
type Lane = Pick<SimulatedLane<SimulatedRun>, 'servedBy' | 'tokens' | 'expectedMs'>;

/** The slots and tokens of the simulation. */
class Cluster {
  readonly pools: readonly FreeTimes[];
  readonly allPools: readonly number[];
  /** The free tokens of each licence. */
  readonly #free: number[];
  /** By end, the first one first. */
  readonly #holders: HeldTokens[];

  constructor({
    pools,
    totals,
    holders,
  }: Pick<SimulatedSituation<SimulatedRun>, 'pools' | 'totals' | 'holders'>) {
    this.pools = pools;
    this.allPools = [...pools.keys()];
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

  hasTokens({ tokens: counts }: Lane): boolean {
    return counts.every(({ license, tokens }) => tokens <= (this.#free[license] ?? 0));
  }

  /** Returns true if the run has its tokens at the time, beside another run that starts now and continues until then. */
  fitsTokensWith(run: Lane, other: Lane, time: number): boolean {
    return run.tokens.every(({ license, tokens }) => {
      let free = this.#free[license] ?? 0;
      for (const { end, tokens: counts } of this.#holders)
        if (end <= time) free += countTokens(counts, license);
      return tokens + countTokens(other.tokens, license) <= free;
    });
  }

  /** Returns the time at which the run has its tokens, if no other run takes them. */
  findTokenTime(run: Lane, now: number): number {
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

  start({ tokens }: Lane, pool: FreeTimes, end: number): void {
    pool.occupyFirst(end);
    if (tokens.length === 0) return;
    this.#addFree(tokens, -1);
    const index = this.#holders.findIndex((holder) => holder.end > end);
    this.#holders.splice(index < 0 ? this.#holders.length : index, 0, { tokens, end });
  }

  /** The time at which tokens become free next; infinite when none are in use. */
  get firstRelease(): number {
    return this.#holders[0]?.end ?? Number.POSITIVE_INFINITY;
  }

  hasFreeSlot(pools: readonly number[], time: number): boolean {
    for (const pool of pools) if ((this.pools[pool]?.first ?? Number.POSITIVE_INFINITY) <= time) return true;
    return false;
  }
}

/** A start that runs after it in the queue must not delay. */
interface Reservation {
  run: Lane;
  pool: number;
  time: number;
}

/** The starts at one time, in queue order. */
class Round {
  readonly #cluster: Cluster;
  readonly #time: number;
  hasFreeSlot: boolean;
  /** The reservation of the first run that did not fit. */
  #first: Reservation | null = null;
  /** The one of the first run that waits for the pool. */
  readonly #ofPools = new Map<number, Reservation>();

  constructor(cluster: Cluster, time: number) {
    this.#cluster = cluster;
    this.#time = time;
    this.hasFreeSlot = this.#findFreeSlot();
  }

  #findFreeSlot(): boolean {
    return this.#cluster.hasFreeSlot(this.#cluster.allPools, this.#time);
  }

  /** Starts a run of the lane if it fits and delays no run before it, and returns its end. Otherwise it may reserve its start. */
  tryStart(lane: Lane, draw: () => number): number | null {
    const index = this.#cluster.hasTokens(lane) ? this.#findPool(lane) : null;
    const pool = index === null ? undefined : this.#cluster.pools[index];
    if (pool === undefined) {
      this.#reserve(lane);
      return null;
    }
    const end = this.#time + draw();
    this.#cluster.start(lane, pool, end);
    this.hasFreeSlot = this.#findFreeSlot();
    return end;
  }

  /** Returns the pool with the slot that has been free for longest and that the run may occupy. */
  #findPool(run: Lane): number | null {
    let found: number | null = null;
    let freeSince = this.#time;
    for (const pool of run.servedBy) {
      const first = this.#cluster.pools[pool]?.first ?? Number.POSITIVE_INFINITY;
      if (first > freeSince || (found !== null && first === freeSince) || this.#delays(run, pool)) continue;
      found = pool;
      freeSince = first;
    }
    return found;
  }

  #delays(run: Lane, pool: number): boolean {
    const ofPool = this.#ofPools.get(pool);
    return (
      (this.#first !== null && this.#delaysStart(this.#first, run, pool)) ||
      (ofPool !== undefined && ofPool !== this.#first && this.#delaysStart(ofPool, run, pool))
    );
  }

  #delaysStart({ run, pool, time }: Reservation, candidate: Lane, ofCandidate: number): boolean {
    if (this.#time + candidate.expectedMs <= time) return false;
    if (!this.#cluster.fitsTokensWith(run, candidate, time)) return true;
    return pool === ofCandidate && (this.#cluster.pools[pool]?.second ?? 0) > time;
  }

  #reserve(run: Lane): void {
    const isFirstOfPool = run.servedBy.some((pool) => !this.#ofPools.has(pool));
    if (this.#first && !isFirstOfPool) return;
    const tokensAt = this.#cluster.findTokenTime(run, this.#time);
    let reservation: Reservation | null = null;
    for (const pool of run.servedBy) {
      const time = Math.max(tokensAt, this.#cluster.pools[pool]?.first ?? Number.POSITIVE_INFINITY);
      if (!reservation || time < reservation.time) reservation = { run, pool, time };
    }
    if (!reservation) return;
    this.#first ??= reservation;
    for (const pool of run.servedBy) if (!this.#ofPools.has(pool)) this.#ofPools.set(pool, reservation);
  }
}

const countTokens = (counts: readonly TokenCount[], license: number): number =>
  counts.find((one) => one.license === license)?.tokens ?? 0;
