/** Predicted starts: cases whose ranges follow from arithmetic, and the share of simulated starts inside their ranges. */
import { CLASS_LIMITS, type ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { PREDICTED_STARTS_MAX } from '@switchyard/contract/limits.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { expect, test } from 'vitest';
import type { RandomGenerator } from '../../../platform/random-generator.ts';
import { type DrawDuration, expectCalibratedStarts } from '../../../testing/load/start-calibration.ts';
import { SLOTS_ONLY, type WorkerOffer } from '../../workers/offers.ts';
import { NO_QUOTAS } from '../order/fair-order.ts';
import { createQueuePosition } from '../order/queue-position.ts';
import {
  predictStarts,
  type QueueSituation,
  type RunningRun,
  type SlotPool,
  type StartAbsence,
  type WaitingRun,
} from './predict-starts.ts';

const SMALL: ExecutionClass = '6c9500mb870s';
const MIDDLE: ExecutionClass = '8c16gb12h';
const LARGE: ExecutionClass = '16c60gb12h';
const NOW = 1_800_000_000_000;

/** Past runs that all had the same duration. */
const always = (ms: number): number[] => Array.from({ length: 50 }, () => ms);
const buildRun = (
  past: number[] | null,
  executionClass: ExecutionClass = SMALL,
  needs: { labels?: string[]; licenses?: Record<string, number> } = {},
): WaitingRun => ({
  demand: {
    ...{ executionClass, labels: [], account: 'account' as AccountId, applicationUid: 'app', ...needs },
  },
  ...{ past, licenses: needs.licenses ?? {}, limitMs: CLASS_LIMITS[executionClass].duration_ms },
  ...{ position: createQueuePosition(6, NOW, ''), hasMore: false },
});
const OWNER = { account_id: 'account' as AccountId, application_uid: 'app' };
const startedBefore = (ms: number, run: WaitingRun): RunningRun => ({
  ...run,
  ...{ owner: OWNER, startedAt: NOW - ms },
});
const buildPool = (
  classes: readonly ExecutionClass[],
  slots: number,
  fields: { running?: readonly RunningRun[]; offer?: Partial<WorkerOffer> } = {},
): SlotPool => ({
  ...{ classes, slots, running: fields.running ?? [] },
  offer: { ...SLOTS_ONLY, ...fields.offer },
});
const predict = (waiting: WaitingRun[], pools: SlotPool[], fields: Partial<QueueSituation> = {}) =>
  predictStarts({
    ...{ pools, holders: [], totals: new Map(), now: NOW, free: NO_QUOTAS },
    use: { occupied: [], minutes: [] },
    ...fields,
    // In the order of age.
    waiting: waiting.map((run, index) => ({ ...run, position: createQueuePosition(6, NOW + index, '') })),
  });
function predictOne(run: WaitingRun, pools: SlotPool[]) {
  const [range] = predict([run], pools);
  return typeof range === 'object' ? range : undefined;
}

interface Case extends Partial<QueueSituation> {
  waiting: WaitingRun[];
  pools: SlotPool[];
  /** Of each waiting run, in milliseconds from now. */
  expected: ([number, number] | StartAbsence)[];
}

const hundred = buildRun(always(100_000));
const onGpu = buildRun(always(100_000), SMALL, { labels: ['gpu'] });
const licensed = (tokens: number): WaitingRun =>
  buildRun(always(100_000), SMALL, { licenses: { gurobi: tokens } });

test.each<[string, Case]>([
  ['nothing waits', { waiting: [], pools: [], expected: [] }],
  ['no worker has a slot', { waiting: [hundred], pools: [], expected: ['unservable'] }],
  [
    'no slot serves the class',
    {
      waiting: [buildRun([1], LARGE)],
      pools: [buildPool([SMALL], 1)],
      expected: ['unservable'],
    },
  ],
  [
    'free slots are taken at once, and again after the duration of their runs',
    {
      waiting: [hundred, hundred, hundred, hundred],
      pools: [buildPool([SMALL], 2)],
      expected: [
        [0, 0],
        [0, 0],
        [100_000, 100_000],
        [100_000, 100_000],
      ],
    },
  ],
  [
    'a pool of its own does not wait for the runs of other classes',
    {
      waiting: [buildRun(always(5_000), LARGE), hundred, buildRun(always(5_000), LARGE)],
      pools: [buildPool([SMALL], 1), buildPool([MIDDLE, LARGE], 1)],
      expected: [
        [0, 0],
        [0, 0],
        [5_000, 5_000],
      ],
    },
  ],
  [
    'a duration ends at the limit of the class',
    {
      waiting: [buildRun(always(9e9)), buildRun(always(9e9))],
      pools: [buildPool([SMALL], 1)],
      expected: [
        [0, 0],
        [870_000, 870_000],
      ],
    },
  ],
  [
    'a run at its limit ends now',
    {
      waiting: [hundred],
      pools: [buildPool([SMALL], 1, { running: [startedBefore(870_000, hundred)] })],
      expected: [[0, 0]],
    },
  ],
  [
    'a worker with more runs than slots starts none until the surplus has ended',
    {
      waiting: [hundred],
      pools: [
        buildPool([SMALL], 1, {
          running: [startedBefore(870_000, hundred), startedBefore(0, { ...hundred, limitMs: 0 })],
        }),
      ],
      expected: [[0, 0]],
    },
  ],
  [
    'an unknown duration leaves the runs after it without a prediction, but not those of other slots',
    {
      waiting: [buildRun(null), hundred, buildRun(null, LARGE)],
      pools: [buildPool([SMALL], 1), buildPool([LARGE], 1)],
      expected: [[0, 0], 'few_past_runs', [0, 0]],
    },
  ],
  [
    'an unknown duration in a slot',
    {
      waiting: [hundred, hundred],
      pools: [buildPool([SMALL], 2, { running: [startedBefore(10, buildRun(null))] })],
      expected: [[0, 0], 'few_past_runs'],
    },
  ],
  [
    'runs that need a label wait for its workers, and others take the first slot',
    {
      waiting: [onGpu, onGpu, hundred, hundred, buildRun(always(1), SMALL, { labels: ['fpga'] })],
      pools: [buildPool([SMALL], 1), buildPool([SMALL], 1, { offer: { labels: ['gpu'] } })],
      expected: [[0, 0], [100_000, 100_000], [0, 0], [100_000, 100_000], 'unservable'],
    },
  ],
  [
    'runs with an unknown duration on one of two workers leave those of the other predictable',
    {
      waiting: [buildRun(null, SMALL, { labels: ['gpu'] }), onGpu, hundred],
      pools: [
        buildPool([SMALL], 1, { offer: { labels: ['eu'] } }),
        buildPool([SMALL], 1, { offer: { labels: ['gpu'] } }),
      ],
      expected: [[0, 0], 'few_past_runs', [0, 0]],
    },
  ],
  [
    'a worker of another account takes no run',
    {
      waiting: [hundred],
      pools: [
        buildPool([SMALL], 1, { offer: { scope: { account: 'other' as AccountId, applicationUids: null } } }),
      ],
      expected: ['unservable'],
    },
  ],
  [
    'tokens are free when their holders end, and runs without licences overtake those that wait for them',
    {
      waiting: [licensed(2), licensed(1), licensed(2), hundred],
      pools: [buildPool([SMALL], 4)],
      totals: new Map([['gurobi', 3]]),
      expected: [
        [0, 0],
        [0, 0],
        [100_000, 100_000],
        [0, 0],
      ],
    },
  ],
  [
    'a run does not take the tokens for which an earlier one waits',
    {
      waiting: [licensed(3), licensed(1)],
      pools: [buildPool([SMALL], 4)],
      holders: [startedBefore(870_000 - 50_000, licensed(2))],
      totals: new Map([['gurobi', 3]]),
      expected: [
        [50_000, 50_000],
        [150_000, 150_000],
      ],
    },
  ],
  [
    'a run that needs more tokens than there are never starts, and delays none',
    {
      waiting: [licensed(4), licensed(3), licensed(3)],
      pools: [buildPool([SMALL], 4)],
      totals: new Map([['gurobi', 3]]),
      expected: ['unservable', [0, 0], [100_000, 100_000]],
    },
  ],
  [
    'tokens of a run with an unknown duration',
    {
      waiting: [licensed(1), licensed(2), hundred],
      pools: [buildPool([SMALL], 4)],
      holders: [startedBefore(0, { ...licensed(1), past: null })],
      totals: new Map([['gurobi', 3]]),
      expected: [[0, 0], 'few_past_runs', [0, 0]],
    },
  ],
])('%s', (_, { expected, ...situation }) => {
  const ranges = predict(situation.waiting, situation.pools, situation);
  const offsets = ranges.map((range) =>
    typeof range === 'string' ? range : [range.earliest - NOW, range.latest - NOW],
  );
  expect(offsets).toEqual(expected);
});

test('a running run ends within the longer ones of the past runs', () => {
  // Of a hundred past durations from 1 to 100 s, the last 50 are longer than the 50 s so far. 80 % of the 51 intervals
  // between them lie from about 5 s to 46 s from now; the simulation deviates by two standard errors of 399 draws.
  const past = Array.from({ length: 100 }, (_, index) => (index + 1) * 1000);
  const pools = [buildPool([SMALL], 1, { running: [startedBefore(50_000, buildRun(past))] })];
  const range = predictOne(hundred, pools);
  expect(range?.earliest).toBeGreaterThan(NOW + 3_500);
  expect(range?.earliest).toBeLessThan(NOW + 7_000);
  expect(range?.latest).toBeGreaterThan(NOW + 44_000);
  expect(range?.latest).toBeLessThan(NOW + 48_000);
});

test('a run that has outlasted every past run is expected to last by as much again', () => {
  // P(T > t | T > 100 s) = 100 s / t: 10 % have ended after 111 s, 90 % after 1000 s, which is beyond the limit of 870 s.
  const pools = [buildPool([SMALL], 1, { running: [startedBefore(100_000, buildRun(always(1_000)))] })];
  const range = predictOne(hundred, pools);
  expect(range?.earliest).toBeGreaterThan(NOW + 5_000);
  expect(range?.earliest).toBeLessThan(NOW + 20_000);
  expect(range?.latest).toBe(NOW + 770_000);
});

test('only the first runs of a long queue have a prediction', () => {
  const waiting = Array.from({ length: 10_000 }, () => hundred);
  const ranges = predict(waiting, [buildPool([SMALL], 4)]);
  expect(ranges).toHaveLength(10_000);
  expect(ranges.indexOf('position')).toBe(PREDICTED_STARTS_MAX);
  expect(ranges.slice(PREDICTED_STARTS_MAX).every((range) => range === 'position')).toBe(true);
});

/** With 3,000 queues the shares were 0.794, 0.806 and 0.814. */
const QUEUES_PER_CASE = 120;
const HISTORY_SIZE = 50;
const WAITING_MAX = 40;

interface Slot {
  classes: readonly ExecutionClass[];
  freeAt: number;
}

/**
 * Draws the history, the running runs and the waiting runs of a queue, and predicts its starts. Then executes it in queue
 * order, and returns whether a randomly chosen run started within its range. One run for each queue, because the starts of
 * a queue depend on each other.
 */
function observeStart(draw: DrawDuration, random: RandomGenerator): boolean {
  const scales = new Map([SMALL, MIDDLE, LARGE].map((name, index) => [name, 1 + index]));
  const drawDuration = (name: ExecutionClass) => Math.min(draw(random) * (scales.get(name) ?? 1), 800_000);
  const runs = new Map(
    [...scales.keys()].map((name) => [
      name,
      buildRun(
        Array.from({ length: HISTORY_SIZE }, () => drawDuration(name)),
        name,
      ),
    ]),
  );
  const pickRun = (classes: readonly ExecutionClass[]): WaitingRun => {
    const run = runs.get(classes[random.integerBelow(classes.length)] ?? SMALL);
    return run ?? buildRun(null);
  };
  const slots: Slot[] = [];
  const pools = [[SMALL], [MIDDLE, LARGE]].map((classes) => {
    const running: RunningRun[] = [];
    const count = 1 + random.integerBelow(4);
    while (running.length < count) {
      const run = pickRun(classes);
      const elapsed = random.uniform() * 30_000;
      const duration = drawDuration(run.demand.executionClass);
      // It is seen running only if it has not ended.
      if (duration <= elapsed) continue;
      running.push(startedBefore(elapsed, run));
      slots.push({ classes, freeAt: NOW - elapsed + duration });
    }
    return buildPool(classes, count, { running });
  });
  const waiting = Array.from({ length: 1 + random.integerBelow(WAITING_MAX) }, () =>
    pickRun([...runs.keys()]),
  );
  const observed = random.integerBelow(waiting.length);
  const range = predict(waiting, pools)[observed];
  let start = NOW;
  for (const {
    demand: { executionClass },
  } of waiting.slice(0, observed + 1)) {
    const serving = slots.filter(({ classes }) => classes.includes(executionClass));
    const next = serving.reduce((first, slot) => (slot.freeAt < first.freeAt ? slot : first));
    start = next.freeAt;
    next.freeAt += drawDuration(executionClass);
  }
  return typeof range === 'object' && range.earliest <= start && start <= range.latest;
}

test('80 % of the starts fall into their range', () => {
  expectCalibratedStarts({ seed: 'calibration', queuesPerCase: QUEUES_PER_CASE, observeStart });
});
