/** The tables of the rules of acceptance tests: how often a candidate passes whose true loss is known. */

import {
  collectEvidence,
  decideRule,
  type RuleSettings,
} from '@switchyard/server/experiments/statistics/acceptance/decide-rule.ts';
import type {
  Metric,
  MetricTolerance,
} from '@switchyard/server/experiments/statistics/acceptance-metrics.ts';
import { Resampler } from '@switchyard/server/experiments/statistics/bootstrap.ts';
import { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import { drawPairedRuns, INDICATOR, type PairedPopulation } from '../paired-populations.ts';
import type { SimulationRow, SimulationTable } from '../table-rows.ts';

const TOLERANCE = 0.02;
const WITHIN_TOLERANCE = { type: 'relative', value: TOLERANCE } as const;
const RESAMPLES = 399;
const INPUTS = [10, 20, 50, 100] as const;
const columns = INPUTS.map((inputs) => `${inputs}`);

/** A rule that says that less is better. */
export type AcceptanceRule = Pick<Metric, 'metric_type' | 'statistic'> & { tolerance: MetricTolerance };

/** Returns the share of experiments in which the rule is met. */
export function simulateRule(
  { metric_type, statistic, tolerance }: AcceptanceRule,
  population: PairedPopulation,
  inputs: number,
  experiments: number,
): number {
  const params = { operator: 'le', tolerance } as const;
  const metric: Metric = { field: INDICATOR, statistic, metric_type, params };
  const resampler = new Resampler({ seed: 'acceptance', resamples: RESAMPLES });
  const settings: RuleSettings = {
    value_type: 'number',
    tie_tolerance: 1e-9,
    shift: 0,
    failure_margin: undefined,
    listIndicatorBlockers: () => [],
    resampler,
  };
  const generator = new RandomGenerator(`acceptance ${metric_type} ${JSON.stringify(population)} ${inputs}`);
  let met = 0;
  for (let experiment = 0; experiment < experiments; experiment += 1) {
    const runs = drawPairedRuns(population, { inputs, repetitions: 1 }, generator);
    if (decideRule(metric, collectEvidence(runs, INDICATOR), settings).passed) met += 1;
  }
  return met / experiments;
}

function buildRow(
  name: string,
  population: PairedPopulation,
  {
    metric_type = 'non-inferiority',
    tolerance = WITHIN_TOLERANCE,
    known,
  }: Partial<Omit<AcceptanceRule, 'statistic'>> & { known?: string } = {},
): SimulationRow {
  return {
    name,
    ...(known === undefined ? {} : { known }),
    cells: INPUTS.map(
      (inputs) => (experiments) =>
        simulateRule({ statistic: 'mean', metric_type, tolerance }, population, inputs, experiments),
    ),
  };
}

/** Effects between inputs with a geometric mean of 1 + loss, and a logarithmic standard deviation of 5 %. */
const drawLoss =
  (loss: number): PairedPopulation['drawEffect'] =>
  (generator) =>
    (1 + loss) * Math.exp(0.05 * generator.normal()) - 1;

/** A mean of 2 %: nothing on nine tenths of the inputs, ten times as much on the others. */
const drawRareLoss: PairedPopulation['drawEffect'] = (generator) =>
  generator.uniform() < 0.1 ? (1 + TOLERANCE) ** 10 - 1 : 0;

/** The share of the mean of the lognormal sizes of `drawPairedRuns`. */
const buildAbsoluteTolerance = (spread: number): MetricTolerance => ({
  type: 'absolute',
  value: TOLERANCE * 100 * Math.exp(spread ** 2 / 2),
});

const atTolerance: SimulationTable = {
  id: 'acceptance-tolerance',
  title: 'Acceptance rule within 2 %, candidate 2 % worse: met',
  shows: 'wrong',
  columns,
  rows: [
    buildRow('effects of 5 % between inputs', { drawEffect: drawLoss(TOLERANCE) }),
    buildRow('normal noise', { effect: TOLERANCE }),
    buildRow('lognormal noise', { effect: TOLERANCE, noise: 'lognormal' }),
    buildRow('heavy noise', { effect: TOLERANCE, noise: 'heavy' }),
    buildRow('sizes over two orders of magnitude', { effect: TOLERANCE, sizeSpread: 1.5 }),
    buildRow(
      'absolute tolerance, sizes of one order of magnitude',
      { effect: TOLERANCE },
      { tolerance: buildAbsoluteTolerance(0.5) },
    ),
    buildRow(
      'absolute tolerance, sizes over two orders of magnitude',
      { effect: TOLERANCE, sizeSpread: 1.5 },
      { tolerance: buildAbsoluteTolerance(1.5) },
    ),
    buildRow('fails on 10 % of the inputs', { effect: TOLERANCE, failureShare: 0.1 }),
    buildRow(
      '22 % worse on a tenth of the inputs',
      { drawEffect: drawRareLoss },
      { known: 'no method sees a loss that did not occur' },
    ),
    buildRow(
      'direct-comparison instead of non-inferiority',
      { drawEffect: drawLoss(TOLERANCE) },
      { metric_type: 'direct-comparison', known: 'the rule compares numbers of these runs, not of others' },
    ),
  ],
};

const byLoss: SimulationTable = {
  id: 'acceptance-loss',
  title: 'Acceptance rule within 2 %, by true loss: met',
  shows: 'power',
  columns,
  rows: [
    ...(['non-inferiority', 'direct-comparison'] as const).flatMap((metric_type) =>
      [0, 0.01, 0.02, 0.03, 0.05].map((loss) =>
        buildRow(`${metric_type}, ${100 * loss} % worse`, { drawEffect: drawLoss(loss) }, { metric_type }),
      ),
    ),
    ...[0.5, 1.5].map((sizeSpread) =>
      buildRow(
        `non-inferiority, absolute tolerance, equal, sizes of a logarithmic spread of ${sizeSpread}`,
        { sizeSpread },
        { tolerance: buildAbsoluteTolerance(sizeSpread) },
      ),
    ),
  ],
};

export const ACCEPTANCE_TABLES: readonly SimulationTable[] = [atTolerance, byLoss];
