/**
 * Predicts when queued runs start. Simulates the queue many times with durations drawn from those of past runs, and returns
 * the range that holds the middle 80 % of the simulated starts. Pure: the same queue gives the same ranges.
 *
 * The simulation knows the runs that are queued and running now, the slots that accounts and applications use, their quotas, the
 * labels of workers and the licence tokens. It does not know later runs, changes of priorities, or cancellations. Nor does it
 * know workers that start or stop. The slots of other classes that an account uses stay as many as now. The ranges hold for a
 * queue that none of these changes.
 */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { PREDICTED_STARTS_MAX } from '@switchyard/contract/limits.ts';
import { RandomGenerator } from '../../../platform/random-generator.ts';
import { canEverServe, type Demand, type WorkerOffer } from '../../workers/offers.ts';
import type { FreeRuns } from '../order/fair-order.ts';
import { compareAge, type QueuePosition } from '../order/queue-position.ts';
import type { Owner, SlotUseDetails } from '../order/slot-use.ts';
import { DurationSampler } from './duration-sampler.ts';
import { expectDuration } from './expected-duration.ts';
import { FreeTimes } from './free-times.ts';
import {
  AFTER_LAST,
  type HeldTokens,
  NEVER,
  type OccupiedSlot,
  type SimulatedLane,
  type SimulatedOwner,
  type SimulatedRun,
  simulateQueue,
  type TokenCount,
} from './simulate-queue.ts';
import { SimulatedUse } from './simulated-use.ts';

/** A run as far as its duration can be predicted. */
export interface ExpectedRun {
  /** Durations of past runs in milliseconds; null when there are too few. Runs with the same array share an estimate. */
  past: readonly number[] | null;
  /** The run is ended after this time. */
  limitMs: number;
  /** The tokens that it needs, by the key of the licence. */
  licenses: Readonly<Record<string, number>>;
}

export interface WaitingRun extends ExpectedRun {
  demand: Demand;
  position: QueuePosition;
  /** True if runs with the same priority and needs wait after it that are not in the situation. */
  hasMore: boolean;
}

export interface RunningRun extends ExpectedRun {
  owner: Owner;
  startedAt: number;
}

/** Slots that serve the same runs, of one worker or several. */
export interface SlotPool {
  classes: readonly ExecutionClass[];
  offer: WorkerOffer;
  slots: number;
  running: readonly RunningRun[];
}

export interface QueueSituation {
  /** In queue order. */
  waiting: readonly WaitingRun[];
  /** The slot use of all runs. */
  use: SlotUseDetails;
  free: FreeRuns;
  pools: readonly SlotPool[];
  /** Running runs that hold licence tokens, but no slot of the pools. */
  holders: readonly RunningRun[];
  /** The total of each licence, by its key. */
  totals: ReadonlyMap<string, number>;
  now: number;
}

/** The 80 % range of a start, in milliseconds since the epoch. */
export interface StartRange {
  earliest: number;
  latest: number;
}

/**
 * Why a run has no range. With `position`, it is after the first PREDICTED_STARTS_MAX runs, or starts after runs that are not read.
 * With `few_past_runs`, the duration of a run that it waits for is unknown. With `unservable`, no slot serves it, or its account
 * has too few tokens or a quota of none.
 */
export type StartAbsence = 'position' | 'few_past_runs' | 'unservable';

/**
 * Numbers of simulations, the most first. Of n simulated starts, a tenth of n + 1 lies before the range and a tenth after
 * it. An actual start that is exchangeable with them falls into the range with a probability of 80 %, exactly for these n.
 */
const SIMULATION_COUNTS = [399, 199, 99, 49, 19] as const;
/** Draws of a prediction: 100,000 take about 40 ms. The smallest number of simulations may exceed it. */
const DRAWS_MAX = 100_000;
const SEED = 'predicted starts';

/** A waiting run that is simulated. */
interface PredictedRun extends SimulatedRun, ExpectedRun {}

/** A running run that is simulated. */
interface SimulatedHolder extends ExpectedRun {
  owner: SimulatedOwner;
  startedAt: number;
  tokens: readonly TokenCount[];
}

/** The queue as every simulation begins with it. */
interface SimulatedQueue {
  lanes: readonly SimulatedLane<PredictedRun>[];
  levels: readonly (readonly (readonly SimulatedLane<PredictedRun>[])[])[];
  pools: readonly { slots: number; running: readonly SimulatedHolder[] }[];
  holders: readonly SimulatedHolder[];
  /** The total of each licence that a waiting run needs. */
  totals: readonly number[];
  uses: readonly SimulatedUse[];
  unknown: ReadonlySet<number>;
  now: number;
}

/** Returns the range of each waiting run, or why it has none. */
export function predictStarts(situation: QueueSituation): (StartRange | StartAbsence)[] {
  const queue = prepareQueue(situation);
  const waiting = queue.lanes.flatMap(({ runs }) => runs);
  const running = [...queue.pools.flatMap((pool) => pool.running), ...queue.holders];
  const samplers = createSamplers([...waiting, ...running]);
  const count = chooseCount(queue, samplers);
  const starts = new Map(waiting.map(({ index }) => [index, new Float64Array(count)]));
  const random = new RandomGenerator(SEED);
  const drawn = new Float64Array(situation.waiting.length);
  for (let simulation = 0; simulation < count; simulation += 1) {
    for (const { sampler, uses } of samplers.values()) if (uses > 1) sampler.drawWeights(random);
    simulateOnce(queue, { samplers, random }, drawn);
    for (const [index, ofRun] of starts) ofRun[simulation] = drawn[index] ?? NEVER;
  }
  return situation.waiting.map((_, index) => {
    const ofRun = starts.get(index);
    if (ofRun) return findRange(ofRun);
    return index < PREDICTED_STARTS_MAX ? 'unservable' : 'position';
  });
}

function isServed({ demand }: WaitingRun, pool: SlotPool | undefined): boolean {
  return (
    !!pool &&
    pool.slots > 0 &&
    pool.classes.includes(demand.executionClass) &&
    canEverServe(pool.offer, demand)
  );
}

/** Prepares the queue for the simulations, without the runs that never start: no run waits for them. */
function prepareQueue(situation: QueueSituation): SimulatedQueue {
  const { pools, holders, totals, now } = situation;
  const licenses = new LicenseIndex(situation);
  const owners = new Owners(situation);
  const lanes = new Map<string, SimulatedLane<PredictedRun> & { runs: PredictedRun[]; priority: number }>();
  for (const [index, run] of situation.waiting.entries()) {
    const servedBy = [...pools.keys()].filter((pool) => isServed(run, pools[pool]));
    const lacksTokens = Object.entries(run.licenses).some(([key, tokens]) => tokens > (totals.get(key) ?? 0));
    if (servedBy.length === 0 || lacksTokens) continue;
    const { priority } = run.position;
    const { account, applicationUid } = run.demand;
    const expectedMs = expectDuration(run.past, run.limitMs);
    const tokens = licenses.index(run);
    const key = JSON.stringify([priority, account, applicationUid, servedBy, tokens, expectedMs]);
    const lane = lanes.get(key) ?? {
      owner: owners.find({ account_id: account, application_uid: applicationUid }),
      ...{ runs: [], servedBy, tokens, expectedMs, component: 0, priority },
    };
    const last = lane.runs.at(-1);
    if (index < PREDICTED_STARTS_MAX) lane.runs.push({ ...run, index, isUnknown: run.past === null });
    else if (last) last.hasMore = true;
    lanes.set(key, lane);
  }
  const sorted = [...lanes.values()].sort((one, other) => one.priority - other.priority);
  for (const { runs } of sorted) runs.sort((one, other) => compareAge(one.position, other.position));
  const components = new Components(pools.length);
  for (const { servedBy, tokens } of sorted) components.join(servedBy, tokens);
  for (const lane of sorted) lane.component = components.find(lane.servedBy[0] ?? 0);
  const describe = (run: RunningRun): SimulatedHolder => ({
    ...run,
    ...{ owner: owners.find(run.owner), tokens: licenses.index(run) },
  });
  const prepared = pools.map(({ slots, running }) => ({ slots, running: running.map(describe) }));
  const others = holders.map(describe);
  const unknown = new Set<number>();
  for (const [pool, { running }] of prepared.entries())
    if (running.some(({ past }) => past === null)) unknown.add(components.find(pool));
  for (const { past, tokens } of [...others, ...prepared.flatMap(({ running }) => running)])
    if (past === null) for (const { license } of tokens) unknown.add(components.findOfLicense(license));
  return {
    lanes: sorted,
    levels: [...Map.groupBy(sorted, ({ priority }) => priority).values()].map((level) => [
      ...Map.groupBy(level, ({ owner }) => owner.account).values(),
    ]),
    ...{ pools: prepared, holders: others, totals: licenses.totals, uses: owners.uses, unknown, now },
  };
}

/** The accounts and applications of the runs. */
class Owners {
  readonly uses: SimulatedUse[] = [];
  readonly #accounts: ReadonlyMap<string, SlotUseDetails>;
  readonly #applications: ReadonlyMap<string, SlotUseDetails>;
  readonly #free: FreeRuns;
  readonly #known = new Map<string, SimulatedUse>();

  constructor({ use, free }: Pick<QueueSituation, 'use' | 'free'>) {
    this.#free = free;
    this.#accounts = groupUse(use, ({ account_id }) => account_id);
    this.#applications = groupUse(use, ({ application_uid }) => application_uid);
  }

  find({ account_id, application_uid }: Owner): SimulatedOwner {
    return {
      account: this.#find(
        `account ${account_id}`,
        this.#accounts.get(account_id),
        this.#free.accounts.get(account_id),
      ),
      application: this.#find(
        `application ${application_uid}`,
        this.#applications.get(application_uid),
        this.#free.applications.get(application_uid),
      ),
    };
  }

  #find(key: string, use: SlotUseDetails | undefined, free = Number.POSITIVE_INFINITY): SimulatedUse {
    const known = this.#known.get(key);
    if (known) return known;
    const occupied = use?.occupied.reduce((sum, { slots }) => sum + slots, 0) ?? 0;
    const added = new SimulatedUse({ occupied, free, minutes: use?.minutes ?? [] });
    this.#known.set(key, added);
    this.uses.push(added);
    return added;
  }
}

function groupUse(
  { occupied, minutes }: SlotUseDetails,
  find: (owner: Owner) => string,
): ReadonlyMap<string, SlotUseDetails> {
  const [ofSlots, ofMinutes] = [Map.groupBy(occupied, find), Map.groupBy(minutes, find)];
  return new Map(
    [...ofSlots.keys(), ...ofMinutes.keys()].map((key) => [
      key,
      { occupied: ofSlots.get(key) ?? [], minutes: ofMinutes.get(key) ?? [] },
    ]),
  );
}

/** Groups pools whose runs compete for the same slots or tokens. */
class Components {
  readonly #of: number[];
  /** A pool for each licence. */
  readonly #licenses = new Map<number, number>();

  constructor(pools: number) {
    this.#of = Array.from({ length: pools }, (_, pool) => pool);
  }

  join(pools: readonly number[], tokens: readonly TokenCount[]): void {
    const [first = 0] = pools;
    const joined = [...pools];
    for (const { license } of tokens) {
      joined.push(this.#licenses.get(license) ?? first);
      this.#licenses.set(license, first);
    }
    const merged = new Set(joined.map((pool) => this.find(pool)));
    for (const [pool, component] of this.#of.entries())
      if (merged.has(component)) this.#of[pool] = this.find(first);
  }

  find(pool: number): number {
    return this.#of[pool] ?? pool;
  }

  findOfLicense(license: number): number {
    return this.find(this.#licenses.get(license) ?? -1);
  }
}

/** The licences that waiting runs need, by index. */
class LicenseIndex {
  readonly totals: number[] = [];
  readonly #indices = new Map<string, number>();

  constructor({ waiting, totals }: QueueSituation) {
    for (const { licenses } of waiting)
      for (const key of Object.keys(licenses)) {
        if (this.#indices.has(key)) continue;
        this.#indices.set(key, this.totals.length);
        this.totals.push(totals.get(key) ?? 0);
      }
  }

  /** Returns the tokens of the run, as far as waiting runs need their licences. */
  index({ licenses }: ExpectedRun): TokenCount[] {
    return Object.entries(licenses).flatMap(([key, tokens]) => {
      const license = this.#indices.get(key);
      return license === undefined ? [] : [{ license, tokens }];
    });
  }
}

type Samplers = ReadonlyMap<readonly number[], { sampler: DurationSampler; uses: number }>;

function createSamplers(runs: readonly ExpectedRun[]): Samplers {
  const samplers = new Map<readonly number[], { sampler: DurationSampler; uses: number }>();
  for (const { past } of runs) {
    if (past === null) continue;
    const known = samplers.get(past) ?? { sampler: new DurationSampler(past), uses: 0 };
    samplers.set(past, { ...known, uses: known.uses + 1 });
  }
  return samplers;
}

/** Returns the number of simulations that keeps the time of the prediction bounded. */
function chooseCount({ lanes, pools, uses, totals }: SimulatedQueue, samplers: Samplers): number {
  const waiting = lanes.reduce((sum, { runs }) => sum + runs.length, 0);
  const running = pools.reduce((sum, pool) => sum + pool.running.length, 0);
  const weights = [...samplers.values()].filter(({ uses: ofSampler }) => ofSampler > 1);
  // Each start looks at the lanes, and with licences each end does too.
  const factor = Math.max(1, lanes.length / (totals.length > 0 ? 4 : 8));
  const draws =
    waiting * factor + running + uses.length + weights.reduce((sum, { sampler }) => sum + sampler.size, 0);
  return SIMULATION_COUNTS.find((count) => count * draws <= DRAWS_MAX) ?? SIMULATION_COUNTS[4];
}

interface Drawing {
  samplers: Samplers;
  random: RandomGenerator;
}

/** Simulates the queue with drawn durations, and writes the start of each run. */
function simulateOnce(queue: SimulatedQueue, drawing: Drawing, starts: Float64Array): void {
  const { samplers, random } = drawing;
  const { levels, totals, unknown, now } = queue;
  for (const use of queue.uses) use.reset(now);
  const running: OccupiedSlot[] = [];
  const holders: HeldTokens[] = [];
  const drawEnd = (run: SimulatedHolder): number => {
    const end = drawRunningEnd(run, drawing, now);
    if (run.tokens.length > 0) holders.push({ tokens: run.tokens, end });
    return end;
  };
  const pools = queue.pools.map(({ slots, running: inPool }) => {
    const times = new Float64Array(Math.max(slots, inPool.length)).fill(now);
    for (const [index, run] of inPool.entries()) {
      const end = drawEnd(run);
      times[index] = end;
      running.push({ owner: run.owner, startedAt: run.startedAt, end });
    }
    // A worker that has more runs than slots starts none until the surplus has ended.
    return new FreeTimes(times.sort().subarray(times.length - slots));
  });
  for (const run of queue.holders) drawEnd(run);
  const draw = (run: PredictedRun): number =>
    findSampler(samplers, run)?.drawDuration(random, run.limitMs) ?? Number.POSITIVE_INFINITY;
  simulateQueue({ levels, pools, running, totals, holders, unknown, now, draw }, starts);
}

/** Returns the end of a running run; infinite when its duration is unknown. */
function drawRunningEnd(run: SimulatedHolder, { samplers, random }: Drawing, now: number): number {
  const sampler = findSampler(samplers, run);
  if (!sampler) return Number.POSITIVE_INFINITY;
  return now + sampler.drawRemaining(random, Math.max(0, now - run.startedAt), run.limitMs);
}

function findSampler(samplers: Samplers, { past }: ExpectedRun): DurationSampler | undefined {
  return past === null ? undefined : samplers.get(past)?.sampler;
}

/** Returns the middle 80 %, rounded to whole milliseconds outwards, or why there is none. */
function findRange(starts: Float64Array): StartRange | StartAbsence {
  // The starts that are not simulated come last.
  const sorted = starts.slice().sort();
  const outside = Math.floor((sorted.length + 1) / 10);
  const [earliest = NEVER, latest = NEVER] = [sorted[outside - 1], sorted[sorted.length - outside]];
  if (Number.isNaN(latest)) return 'few_past_runs';
  if (latest === NEVER) return 'unservable';
  if (latest === AFTER_LAST) return 'position';
  return { earliest: Math.floor(earliest), latest: Math.ceil(latest) };
}
