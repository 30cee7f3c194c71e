/**
 * Predicts when queued runs start. Simulates the queue many times with durations drawn from those of past runs, and returns
 * the range that holds the middle 80 % of the simulated starts. Pure: the same queue gives the same ranges.
 *
 * The simulation knows the runs that are queued and running now. It does not know later runs with a higher priority, changes of
 * priorities, or cancellations. Nor does it know workers that start or stop, or quotas of the runs before a run. The ranges hold
 * for a queue that none of these changes.
 */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { PREDICTED_STARTS_MAX } from '@switchyard/contract/limits.ts';
import { RandomGenerator } from '../../../random-generator.ts';
import { DurationSampler } from './duration-sampler.ts';

/** A run as far as its duration can be predicted. */
export interface ExpectedRun {
  executionClass: ExecutionClass;
  /** Durations of past runs in milliseconds; null when there are too few. Runs with the same array share an estimate. */
  past: readonly number[] | null;
  /** The run is ended after this time. */
  limitMs: number;
}

/** Slots that serve the same classes, of one worker or several. */
export interface SlotPool {
  classes: readonly ExecutionClass[];
  slots: number;
  running: readonly (ExpectedRun & { startedAt: number })[];
}

/** The 80 % range of a start, in milliseconds since the epoch. */
export interface StartRange {
  earliest: number;
  latest: number;
}

/**
 * Numbers of simulations, the most first. Of n simulated starts, a tenth of n + 1 lies before the range and a tenth after
 * it. An actual start that is exchangeable with them falls into the range with a probability of 80 %, exactly for these n.
 */
const SIMULATION_COUNTS = [399, 199, 99] as const;
/** Draws of a prediction: 100,000 take about 20 ms. The smallest number of simulations may exceed it. */
const DRAWS_MAX = 100_000;
const SEED = 'predicted starts';

/**
 * Returns the range of each waiting run. `waiting` is in queue order. A range is null after the first PREDICTED_STARTS_MAX
 * runs, without a slot that serves the class, and when the duration of a run before it is unknown.
 */
export function predictStarts(
  waiting: readonly ExpectedRun[],
  pools: readonly SlotPool[],
  now: number,
): (StartRange | null)[] {
  const predicted = waiting.slice(0, PREDICTED_STARTS_MAX);
  const samplers = createSamplers([...predicted, ...pools.flatMap(({ running }) => running)]);
  const isPredictable = findPredictable(predicted, pools);
  const count = chooseCount(predicted, pools, samplers);
  const starts = predicted.map(() => new Float64Array(count));
  const random = new RandomGenerator(SEED);
  for (let simulation = 0; simulation < count; simulation += 1) {
    for (const { sampler, uses } of samplers.values()) if (uses > 1) sampler.drawWeights(random);
    const queues = pools.map((pool) => drawFreeTimes(pool, { samplers, random, now }));
    for (const [index, run] of predicted.entries()) {
      if (!isPredictable[index]) continue;
      const queue = findNextFree(queues, run.executionClass);
      const start = queue?.free[0] ?? now;
      starts[index]?.set([start], simulation);
      const duration = findSampler(samplers, run)?.drawDuration(random, run.limitMs) ?? 0;
      if (queue) replaceFirst(queue.free, start + duration);
    }
  }
  return waiting.map((_, index) => (isPredictable[index] ? findRange(starts[index]) : null));
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

function findSampler(samplers: Samplers, { past }: ExpectedRun): DurationSampler | undefined {
  return past === null ? undefined : samplers.get(past)?.sampler;
}

/** Returns for each run whether it has a slot to wait for, and whether all durations before it are known. */
function findPredictable(waiting: readonly ExpectedRun[], pools: readonly SlotPool[]): boolean[] {
  const unknown = new Set(pools.filter(({ running }) => running.some(({ past }) => past === null)));
  return waiting.map((run) => {
    const serving = pools.filter(({ classes, slots }) => slots > 0 && classes.includes(run.executionClass));
    const isPredictable = serving.length > 0 && !serving.some((pool) => unknown.has(pool));
    // The next runs do not know when its slot becomes free.
    if (run.past === null) for (const pool of serving) unknown.add(pool);
    return isPredictable;
  });
}

/** Returns the number of simulations that keeps the time of the prediction bounded. */
function chooseCount(waiting: readonly ExpectedRun[], pools: readonly SlotPool[], samplers: Samplers) {
  const running = pools.reduce((sum, pool) => sum + pool.running.length, 0);
  const weights = [...samplers.values()].filter(({ uses }) => uses > 1);
  const draws = waiting.length + running + weights.reduce((sum, { sampler }) => sum + sampler.size, 0);
  const [most, , least] = SIMULATION_COUNTS;
  return SIMULATION_COUNTS.find((count) => count * draws <= DRAWS_MAX) ?? (draws === 0 ? most : least);
}

/** The times at which the slots of a pool become free, as a binary heap. */
interface FreeTimes {
  classes: readonly ExecutionClass[];
  free: Float64Array;
}

function drawFreeTimes(
  { classes, slots, running }: SlotPool,
  { samplers, random, now }: { samplers: Samplers; random: RandomGenerator; now: number },
): FreeTimes {
  const times = new Float64Array(Math.max(slots, running.length)).fill(now);
  for (const [index, run] of running.entries()) {
    const elapsed = Math.max(0, now - run.startedAt);
    times[index] = now + (findSampler(samplers, run)?.drawRemaining(random, elapsed, run.limitMs) ?? 0);
  }
  // Ascending times are a heap. A worker that has more runs than slots starts none until the surplus has ended.
  return { classes, free: times.sort().subarray(times.length - slots) };
}

/** Returns the pool of the class whose next slot becomes free first. */
function findNextFree(queues: readonly FreeTimes[], name: ExecutionClass): FreeTimes | undefined {
  let next: FreeTimes | undefined;
  for (const queue of queues) {
    if (queue.free.length === 0 || !queue.classes.includes(name)) continue;
    if (!next || at(queue.free, 0) < at(next.free, 0)) next = queue;
  }
  return next;
}

/** Returns a number at an index that exists. */
function at(numbers: Float64Array, index: number): number {
  return numbers[index] ?? 0;
}

/** Replaces the smallest number of a heap. */
function replaceFirst(heap: Float64Array, value: number): void {
  let index = 0;
  while (true) {
    let child = 2 * index + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && at(heap, child + 1) < at(heap, child)) child += 1;
    if (at(heap, child) >= value) break;
    heap[index] = at(heap, child);
    index = child;
  }
  heap[index] = value;
}

/** Returns the middle 80 %, rounded to whole milliseconds outwards. */
function findRange(starts: Float64Array | undefined): StartRange | null {
  if (!starts) return null;
  const sorted = starts.slice().sort();
  const outside = Math.floor((sorted.length + 1) / 10);
  return {
    earliest: Math.floor(at(sorted, outside - 1)),
    latest: Math.ceil(at(sorted, sorted.length - outside)),
  };
}
