/**
 * The tables of acceptance rules on percentiles and the shifted geometric mean: how often a candidate passes whose true loss is
 * the tolerance. Values are lognormal, as run times are, with and without a time limit.
 */

import {
  readStatistic,
  type StatisticName,
} from '@switchyard/server/experiments/statistics/acceptance-metrics.ts';
import { findReportedValue } from '@switchyard/server/experiments/statistics/observations.ts';
import { summarize } from '@switchyard/server/experiments/statistics/summaries.ts';
import { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import { drawPairedRuns, INDICATOR, type PairedPopulation } from '../paired-populations.ts';
import { drawRareLoss, type SimulationRow, type SimulationTable } from '../table-rows.ts';
import { type AcceptanceRule, simulateRule } from './acceptance-tables.ts';

const LOSS = 0.02;
/** Inputs from which the true loss of a population is computed, where it is not LOSS. */
const TRUTH_INPUTS = 40_000;

/** Returns the candidate's statistic over the control's, minus 1, over very many inputs. */
function computeTrueLoss(population: PairedPopulation, statistic: StatisticName): number {
  const generator = new RandomGenerator(`truth ${JSON.stringify(population)}`);
  const runs = drawPairedRuns(population, { inputs: TRUTH_INPUTS, repetitions: 1 }, generator);
  const [control, candidate] = [runs.control, runs.candidate].map((side) => {
    const values = summarize(side.map((run) => findReportedValue(run, INDICATOR)));
    return values === null ? Number.NaN : readStatistic(values, statistic);
  });
  return (candidate ?? Number.NaN) / (control ?? Number.NaN) - 1;
}

const MEAN_SIZES = [10, 20, 50, 100] as const;

interface RowOptions extends Partial<Pick<AcceptanceRule, 'metric_type'>> {
  /** The numbers of inputs. */
  sizes?: readonly number[];
  /** The tolerance; `true` for the true loss of the population, LOSS by default. */
  tolerance?: number | 'true';
  known?: string;
}

function buildRow(
  name: string,
  statistic: StatisticName,
  population: PairedPopulation,
  { sizes = MEAN_SIZES, metric_type = 'non-inferiority', tolerance = LOSS, known }: RowOptions = {},
): SimulationRow {
  let value = tolerance === 'true' ? null : tolerance;
  return {
    name: `${statistic}, ${name}`,
    ...(known === undefined ? {} : { known }),
    cells: sizes.map((inputs) => (experiments) => {
      value ??= computeTrueLoss(population, statistic);
      const rule = { statistic, metric_type, tolerance: { type: 'relative', value } } as const;
      return simulateRule(rule, population, inputs, experiments);
    }),
  };
}

const toColumns = (sizes: readonly number[]) => sizes.map((size) => `${size}`);

/** A loss of 25 % on one of twenty inputs, and equal values on the others. */
const rareLoss: PairedPopulation = { drawEffect: drawRareLoss(0.05, 0, 0.25) };
const geometric = (name: string, population: PairedPopulation, options: RowOptions = {}) =>
  buildRow(name, 'shifted_geometric_mean', population, { tolerance: 'true', ...options });

const geometricMeans: SimulationTable = {
  id: 'acceptance-geometric-mean',
  title: 'Acceptance rule on the shifted geometric mean, candidate at the tolerance: met',
  shows: 'wrong',
  columns: toColumns(MEAN_SIZES),
  rows: [
    geometric('normal noise', { effect: LOSS }),
    geometric('lognormal noise', { effect: LOSS, noise: 'lognormal' }),
    geometric('heavy noise', { effect: LOSS, noise: 'heavy' }),
    geometric('effects of 20 % between inputs', { effect: LOSS, interaction: 0.2, sizeSpread: 1 }),
    geometric('values of 1 over two orders of magnitude', { effect: LOSS, size: 1, sizeSpread: 1.5 }),
    geometric('values of 5, effects of 20 %', { effect: LOSS, size: 5, sizeSpread: 1, interaction: 0.2 }),
    geometric('time limit on a tenth', { effect: LOSS, sizeSpread: 1, limit: 360 }),
    geometric('time limit on a third', { effect: LOSS, sizeSpread: 1, limit: 150 }),
    geometric('time limit on half', { effect: LOSS, sizeSpread: 1, limit: 100 }),
    geometric('time limit on a third, effects of 20 %', {
      ...{ effect: LOSS, sizeSpread: 1, limit: 150 },
      interaction: 0.2,
    }),
    geometric('equal on 95 %, 25 % worse on 5 %', rareLoss),
    geometric('fails on 10 % of the inputs', { effect: LOSS, failureShare: 0.1 }),
  ],
};

const PERCENTILE_SIZES = [60, 100, 200] as const;
const MEDIAN_SIZES = [10, 20, 50, 100] as const;
const percentile = (name: string, population: PairedPopulation, options?: RowOptions) => [
  buildRow(name, 'p90', population, { sizes: PERCENTILE_SIZES, ...options }),
  buildRow(name, 'p95', population, { sizes: PERCENTILE_SIZES, ...options }),
];
/** The percentiles of lognormal sizes with a median of 100 and a spread of 0.5. */
const P95 = 100 * Math.exp(0.5 * 1.6449);

const percentiles: SimulationTable = {
  id: 'acceptance-percentiles',
  title: 'Acceptance rule on high percentiles, candidate at the tolerance: met',
  shows: 'wrong',
  columns: toColumns(PERCENTILE_SIZES),
  rows: [
    ...percentile('normal noise', { effect: LOSS }),
    ...percentile('lognormal noise', { effect: LOSS, noise: 'lognormal' }),
    ...percentile('heavy noise', { effect: LOSS, noise: 'heavy' }),
    ...percentile('sizes over two orders of magnitude', { effect: LOSS, sizeSpread: 1.5 }),
    ...percentile('time limit 5 % above p95', { effect: LOSS, limit: 1.05 * P95 }),
    ...percentile('time limit 20 % above p95', { effect: LOSS, limit: 1.2 * P95 }),
    ...percentile('equal on 95 %, 25 % worse on 5 %', rareLoss, { tolerance: 'true' }),
    ...percentile(
      'equal on 80 %, 25 % worse on 20 %',
      { drawEffect: drawRareLoss(0.2, 0, 0.25) },
      { tolerance: 'true' },
    ),
    ...percentile('fails on 5 % of the inputs', { effect: LOSS, failureShare: 0.05 }),
  ],
};

const median = (name: string, population: PairedPopulation, options?: RowOptions) =>
  buildRow(name, 'p50', population, { sizes: MEDIAN_SIZES, ...options });

const medians: SimulationTable = {
  id: 'acceptance-medians',
  title: 'Acceptance rule on the median, candidate at the tolerance: met',
  shows: 'wrong',
  columns: toColumns(MEDIAN_SIZES),
  rows: [
    median('normal noise', { effect: LOSS }),
    median('lognormal noise', { effect: LOSS, noise: 'lognormal' }),
    median('heavy noise', { effect: LOSS, noise: 'heavy' }),
    median('sizes over two orders of magnitude', { effect: LOSS, sizeSpread: 1.5 }),
    median('time limit 5 % above the median', { effect: LOSS, limit: 105 }),
    median('time limit 20 % above the median', { effect: LOSS, limit: 120 }),
    median('time limit 50 % above the median', { effect: LOSS, limit: 150 }),
    median('equal on 95 %, 25 % worse on 5 %', rareLoss, { tolerance: 'true' }),
    median(
      'equal on 80 %, 25 % worse on 20 %',
      { drawEffect: drawRareLoss(0.2, 0, 0.25) },
      { tolerance: 'true' },
    ),
  ],
};

const POINT_SIZES = [10, 20, 60, 100] as const;
const POINT_STATISTICS = ['mean', 'shifted_geometric_mean', 'p50', 'p95', 'max', 'min', 'std'] as const;
/** Effects between inputs of 5 %, with a geometric mean of twice the tolerance. */
const twice: PairedPopulation = {
  drawEffect: (generator) => (1 + 2 * LOSS) * Math.exp(0.05 * generator.normal()) - 1,
};

const points: SimulationTable = {
  id: 'acceptance-points',
  title: 'Acceptance rule without a hypothesis, candidate at twice the tolerance: met',
  shows: 'wrong',
  columns: toColumns(POINT_SIZES),
  rows: POINT_STATISTICS.map((statistic) =>
    buildRow('effects of 5 % between inputs', statistic, twice, {
      sizes: POINT_SIZES,
      metric_type: 'direct-comparison',
      known: 'the rule compares numbers of these runs, not of others; a met one has a warning',
    }),
  ),
};

const POWER_SIZES = [20, 60, 100, 200] as const;
const powers: SimulationTable = {
  id: 'acceptance-statistics-power',
  title: 'Acceptance rule within 5 %, equal candidate: met',
  shows: 'power',
  columns: toColumns(POWER_SIZES),
  rows: (['mean', 'shifted_geometric_mean', 'p50', 'p90', 'p95'] as const).flatMap((statistic) => [
    buildRow('noise of 5 %', statistic, {}, { sizes: POWER_SIZES, tolerance: 0.05 }),
    buildRow(
      'sizes over two orders of magnitude',
      statistic,
      { sizeSpread: 1.5 },
      { sizes: POWER_SIZES, tolerance: 0.05 },
    ),
  ]),
};

export const ACCEPTANCE_STATISTICS_TABLES: readonly SimulationTable[] = [
  geometricMeans,
  medians,
  percentiles,
  points,
  powers,
];
