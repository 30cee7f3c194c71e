/** The tables of the watch after a release: how often it moves a version back, and how often it finds a worse one. */

import { formatExactPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import { computeOutageRuns, findWatchAlarm } from '@switchyard/contract/runs/failure-watch.ts';
import { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import type { SimulationRow, SimulationTable } from './table-rows.ts';

/** Failures of a version. A failing period lasts for a fixed number of runs, or for a random one with this mean. */
interface FailurePopulation {
  /** Share of the runs that fail, on average over time. */
  rate: number;
  period?: { length: number; kind: 'fixed' | 'geometric'; share?: number };
}

/** Numbers of runs before the release, and of runs that are watched. */
const SIZES = [
  [20, 20],
  [20, 100],
  [50, 50],
  [200, 20],
  [200, 100],
  [500, 100],
] as const;
type WatchSize = (typeof SIZES)[number];
const columns = SIZES.map(([before, planned]) => `${before} → ${planned}`);

const isLess = (generator: RandomGenerator, share: number): boolean => generator.uniform() < share;

/** Draws outcomes that have no beginning: a failing period may have begun before the first run. */
function drawOutcomes(population: FailurePopulation, count: number, generator: RandomGenerator): boolean[] {
  const { rate, period } = population;
  if (!period) return Array.from({ length: count }, () => isLess(generator, rate));
  const { length, kind, share = 1 } = period;
  const inPeriod = rate / share;
  const start = inPeriod / length / (1 - inPeriod);
  let left = isLess(generator, inPeriod) ? 1 + generator.integerBelow(length) : 0;
  if (kind === 'geometric' && left > 0) left = 1;
  return Array.from({ length: count }, () => {
    if (left === 0 && isLess(generator, start)) left = kind === 'fixed' ? length : 1;
    if (left === 0) return false;
    const continues = kind === 'geometric' && isLess(generator, 1 - 1 / length);
    if (!continues) left -= 1;
    return isLess(generator, share);
  });
}

/** Returns the share of releases that are moved back, where each side has its own population or both share one series. */
function simulateWatch(
  before: FailurePopulation,
  after: FailurePopulation | undefined,
  [runs, planned]: WatchSize,
  releases: number,
): number {
  const generator = new RandomGenerator(`watch ${JSON.stringify({ before, after, runs, planned })}`);
  let movedBack = 0;
  for (let release = 0; release < releases; release += 1) {
    const series = drawOutcomes(before, after ? runs : runs + planned, generator);
    const watched = {
      before: series.slice(0, runs),
      after: after ? drawOutcomes(after, planned, generator) : series.slice(runs),
      planned,
    };
    if (findWatchAlarm(watched, computeOutageRuns(watched))) movedBack += 1;
  }
  return movedBack / releases;
}

function buildRow(
  name: string,
  before: FailurePopulation,
  { after, known }: { after?: FailurePopulation; known?: string } = {},
): SimulationRow {
  return {
    name,
    ...(known === undefined ? {} : { known }),
    cells: SIZES.map((size) => (releases) => simulateWatch(before, after, size, releases)),
  };
}

const RATES = [0.005, 0.02, 0.05, 0.1, 0.3] as const;
/** Returns a share for the name of a row. The stored counts have an ordinary space in their names. */
const percent = (share: number): string => formatExactPercent(share).replaceAll('\u00a0', ' ');

const SEVERAL_EVENTS = 'A period in which half of the runs succeed counts as several bursts.';

const PERIODS: readonly {
  name: string;
  period: NonNullable<FailurePopulation['period']>;
  rates: readonly number[];
  known?: string;
}[] = [
  { name: 'in periods of 3 on average', period: { length: 3, kind: 'geometric' }, rates: RATES },
  { name: 'in periods of 5 on average', period: { length: 5, kind: 'geometric' }, rates: RATES },
  { name: 'in periods of 8', period: { length: 8, kind: 'fixed' }, rates: RATES },
  {
    name: 'four of five runs in periods of 10',
    period: { length: 10, kind: 'fixed', share: 0.8 },
    rates: [0.005, 0.02, 0.05, 0.1],
  },
  {
    name: 'every second run in periods of 10',
    period: { length: 10, kind: 'fixed', share: 0.5 },
    rates: [0.005, 0.02, 0.05, 0.1],
    known: SEVERAL_EVENTS,
  },
  {
    name: 'every second run in periods of 20',
    period: { length: 20, kind: 'fixed', share: 0.5 },
    rates: [0.02, 0.1],
    known: SEVERAL_EVENTS,
  },
  {
    name: 'all runs in periods of 20',
    period: { length: 20, kind: 'fixed' },
    rates: [0.02, 0.1],
    known: 'An outage without a release that is longer than `--outage-runs` looks like a broken version.',
  },
];

const watch: SimulationTable = {
  id: 'watch',
  title: 'Watch after a release, equal failure rates: moved back',
  shows: 'wrong',
  columns,
  rows: [
    ...RATES.map((rate) => buildRow(`${percent(rate)} fail, independently`, { rate })),
    ...PERIODS.flatMap(({ name, period, rates, known }) =>
      rates.map((rate) =>
        buildRow(`${percent(rate)} fail, ${name}`, { rate, period }, known === undefined ? {} : { known }),
      ),
    ),
  ],
};

const RISES = [
  [0.01, 0.05],
  [0.01, 0.1],
  [0.01, 0.2],
  [0.01, 0.5],
  [0.01, 1],
  [0.05, 0.2],
  [0.1, 0.3],
  [0.1, 0.7],
] as const;

const watchPower: SimulationTable = {
  id: 'watch-power',
  title: 'Watch after a release, more failures than before: moved back',
  shows: 'power',
  columns,
  rows: RISES.map(([before, after]) =>
    buildRow(`from ${percent(before)} to ${percent(after)}`, { rate: before }, { after: { rate: after } }),
  ),
};

/** Tables of the watch after a release. */
export const WATCH_TABLES: readonly SimulationTable[] = [watch, watchPower];
