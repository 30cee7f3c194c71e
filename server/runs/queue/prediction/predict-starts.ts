/**
 * Predicts when queued runs start. Simulates the queue many times with durations drawn from those of past runs, and returns
 * the range that holds the middle 80 % of the simulated starts. Pure: the same queue gives the same ranges.
 *
 * The simulation knows the runs that are queued and running now, the labels of workers and the licence tokens. It does not know
 * later runs with a higher priority, changes of priorities, or cancellations. Nor does it know workers that start or stop, or
 * quotas of the runs before a run. The ranges hold for a queue that none of these changes.
 */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { PREDICTED_STARTS_MAX } from '@switchyard/contract/limits.ts';
import { RandomGenerator } from '../../../random-generator.ts';
import { canEverServe, type Demand, type WorkerOffer } from '../../../workers/offers.ts';
import { DurationSampler } from './duration-sampler.ts';
import { expectDuration } from './expected-duration.ts';
import { FreeTimes } from './free-times.ts';
import { simulateLicensed, type TokenCount } from './simulate-licensed.ts';

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
}

export interface RunningRun extends ExpectedRun {
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
 * Why a run has no range. With `position`, it is after the first PREDICTED_STARTS_MAX runs. With `few_past_runs`, the duration
 * of a run that it waits for is unknown. With `unservable`, no slot serves it, or its account has too few tokens.
 */
export type StartAbsence = 'position' | 'few_past_runs' | 'unservable';

/**
 * Numbers of simulations, the most first. Of n simulated starts, a tenth of n + 1 lies before the range and a tenth after
 * it. An actual start that is exchangeable with them falls into the range with a probability of 80 %, exactly for these n.
 */
const SIMULATION_COUNTS = [399, 199, 99] as const;
/** Draws of a prediction: 100,000 take about 20 ms. The smallest number of simulations may exceed it. */
const DRAWS_MAX = 100_000;
const SEED = 'predicted starts';

/** A waiting run that is simulated. */
interface SimulatedRun extends WaitingRun {
  servedBy: readonly number[];
  tokens: readonly TokenCount[];
  expectedMs: number;
}

/** A running run that is simulated. */
interface SimulatedHolder extends RunningRun {
  tokens: readonly TokenCount[];
}

/** The queue as every simulation begins with it. */
interface SimulatedQueue {
  /** In queue order. */
  waiting: readonly SimulatedRun[];
  pools: readonly { slots: number; running: readonly SimulatedHolder[] }[];
  holders: readonly SimulatedHolder[];
  /** The total of each licence that a waiting run needs. */
  totals: readonly number[];
  now: number;
}

/** Returns the range of each waiting run, or why it has none. */
export function predictStarts(situation: QueueSituation): (StartRange | StartAbsence)[] {
  const { waiting, pools } = situation;
  const predicted = waiting.slice(0, PREDICTED_STARTS_MAX).map((run) => ({
    ...run,
    servedBy: [...pools.keys()].filter((index) => isServed(run, pools[index])),
  }));
  const absences = findAbsences(predicted, situation);
  const queue = prepareQueue(
    predicted.filter((_, index) => absences[index] === null),
    situation,
  );
  const running = queue.pools.flatMap((pool) => pool.running);
  const samplers = createSamplers([...queue.waiting, ...running, ...queue.holders]);
  const count = chooseCount(queue, samplers);
  const starts = queue.waiting.map(() => new Float64Array(count));
  const random = new RandomGenerator(SEED);
  for (let simulation = 0; simulation < count; simulation += 1) {
    for (const { sampler, uses } of samplers.values()) if (uses > 1) sampler.drawWeights(random);
    const simulated = new DrawnQueue(queue, { samplers, random }).simulate();
    for (const [index, start] of simulated.entries()) starts[index]?.set([start], simulation);
  }
  const ranges = starts.map(findRange).values();
  return waiting.map((_, index) => {
    if (index >= predicted.length) return 'position';
    return absences[index] ?? ranges.next().value ?? 'unservable';
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

/** Returns for each run why its start cannot be predicted; null for those that are simulated. */
function findAbsences(
  waiting: readonly (WaitingRun & { servedBy: readonly number[] })[],
  { pools, holders, totals }: QueueSituation,
): (StartAbsence | null)[] {
  const unknownPools = new Set<number>();
  const unknownLicenses = new Set<string>();
  const addUnknown = ({ licenses }: ExpectedRun, servedBy: readonly number[]): void => {
    for (const pool of servedBy) unknownPools.add(pool);
    for (const key of Object.keys(licenses)) unknownLicenses.add(key);
  };
  for (const run of holders) if (run.past === null) addUnknown(run, []);
  for (const [pool, { running }] of pools.entries())
    for (const run of running) if (run.past === null) addUnknown(run, [pool]);
  return waiting.map((run) => {
    const { servedBy, licenses } = run;
    const lacksTokens = Object.entries(licenses).some(([key, tokens]) => tokens > (totals.get(key) ?? 0));
    // It never starts, so no run waits for it.
    if (servedBy.length === 0 || lacksTokens) return 'unservable';
    const isUnknown =
      servedBy.some((pool) => unknownPools.has(pool)) ||
      Object.keys(licenses).some((key) => unknownLicenses.has(key));
    // The next runs do not know when its slot and its tokens become free.
    if (isUnknown || run.past === null) addUnknown(run, servedBy);
    return isUnknown ? 'few_past_runs' : null;
  });
}

/** Prepares the queue for the simulations. */
function prepareQueue(
  waiting: readonly (WaitingRun & { servedBy: readonly number[] })[],
  situation: QueueSituation,
): SimulatedQueue {
  const { pools, holders, now } = situation;
  const licenses = new LicenseIndex(situation);
  const addTokens = (run: RunningRun): SimulatedHolder => ({ ...run, tokens: licenses.index(run) });
  return {
    waiting: waiting.map((run) => ({
      ...run,
      tokens: licenses.index(run),
      expectedMs: expectDuration(run.past, run.limitMs),
    })),
    pools: pools.map(({ slots, running }) => ({ slots, running: running.map(addTokens) })),
    holders: holders.map(addTokens),
    ...{ totals: licenses.totals, now },
  };
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
function chooseCount({ waiting, pools }: SimulatedQueue, samplers: Samplers): number {
  const running = pools.reduce((sum, pool) => sum + pool.running.length, 0);
  const weights = [...samplers.values()].filter(({ uses }) => uses > 1);
  // With licences each end of a run looks at the runs that still wait.
  const factor = waiting.some(({ tokens }) => tokens.length > 0) ? Math.max(1, waiting.length / 8) : 1;
  const draws =
    waiting.length * factor + running + weights.reduce((sum, { sampler }) => sum + sampler.size, 0);
  const [most, , least] = SIMULATION_COUNTS;
  return SIMULATION_COUNTS.find((count) => count * draws <= DRAWS_MAX) ?? (draws === 0 ? most : least);
}

interface Drawing {
  samplers: Samplers;
  random: RandomGenerator;
}

/** One simulation: the slots and tokens with drawn ends of the running runs. */
class DrawnQueue {
  readonly #queue: SimulatedQueue;
  readonly #drawing: Drawing;
  readonly #times: FreeTimes[];
  readonly #holders: { tokens: readonly TokenCount[]; end: number }[] = [];

  constructor(queue: SimulatedQueue, drawing: Drawing) {
    this.#queue = queue;
    this.#drawing = drawing;
    this.#times = queue.pools.map((pool) => this.#drawFreeTimes(pool));
    for (const run of queue.holders) this.#drawEnd(run);
  }

  #drawFreeTimes({ slots, running }: SimulatedQueue['pools'][number]): FreeTimes {
    const times = new Float64Array(Math.max(slots, running.length)).fill(this.#queue.now);
    for (const [index, run] of running.entries()) times[index] = this.#drawEnd(run);
    // A worker that has more runs than slots starts none until the surplus has ended.
    return new FreeTimes(times.sort().subarray(times.length - slots));
  }

  /** Returns the end of a running run, at which its tokens become free too. */
  #drawEnd(run: SimulatedHolder): number {
    const { samplers, random } = this.#drawing;
    const { now } = this.#queue;
    const elapsed = Math.max(0, now - run.startedAt);
    const end = now + (findSampler(samplers, run)?.drawRemaining(random, elapsed, run.limitMs) ?? 0);
    if (run.tokens.length > 0) this.#holders.push({ tokens: run.tokens, end });
    return end;
  }

  /** Returns the start of each waiting run. */
  simulate(): Float64Array {
    const { samplers, random } = this.#drawing;
    const { waiting, totals, now } = this.#queue;
    const draw = (run: SimulatedRun): number =>
      findSampler(samplers, run)?.drawDuration(random, run.limitMs) ?? 0;
    if (totals.length > 0)
      return simulateLicensed(
        waiting.map((run) => ({ ...run, durationMs: draw(run) })),
        { queues: this.#times, totals, holders: this.#holders, now },
      );
    // Without licences each run takes the first slot that serves it: no later run was there before it.
    return Float64Array.from(waiting, (run) => {
      const times = this.#findNextFree(run.servedBy);
      const start = times?.first ?? now;
      times?.occupyFirst(start + draw(run));
      return start;
    });
  }

  /** Returns the pool whose next slot becomes free first. */
  #findNextFree(servedBy: readonly number[]): FreeTimes | undefined {
    let next: FreeTimes | undefined;
    for (const index of servedBy) {
      const times = this.#times[index];
      if (times && (!next || times.first < next.first)) next = times;
    }
    return next;
  }
}

function findSampler(samplers: Samplers, { past }: ExpectedRun): DurationSampler | undefined {
  return past === null ? undefined : samplers.get(past)?.sampler;
}

/** Returns the middle 80 %, rounded to whole milliseconds outwards. */
function findRange(starts: Float64Array): StartRange {
  const sorted = starts.slice().sort();
  const outside = Math.floor((sorted.length + 1) / 10);
  return {
    earliest: Math.floor(sorted[outside - 1] ?? 0),
    latest: Math.ceil(sorted[sorted.length - outside] ?? 0),
  };
}
