/**
 * Measures how often shadow and acceptance tests are right, on simulated experiments with a known effect, by the results
 * of the tests:
 *
 *     node server/experiments/simulation/simulate-tests.ts [experiments in each cell, 1000 by default]
 *
 * simulate-comparisons.ts measures batch experiments and switchback tests. A shadow test has one pair for each original,
 * whatever its input. An acceptance test has the verdict of a batch, and rules that pass or fail.
 */
import { evaluateAcceptanceTest } from '../results/acceptance-evaluation.ts';
import { analyseShadowTest } from '../results/online-test-analysis.ts';
import type { Metric } from '../statistics/acceptance-metrics.ts';
import { drawBatch, INDICATOR, type Population } from './populations.ts';
import { printTable, SAMPLE_SIZES, simulateVerdicts, type VerdictShares } from './simulate-comparisons.ts';

/** Returns the verdicts of shadow tests. Less is better, so a candidate with an effect above 0 is worse. */
export function simulateShadowTests(
  population: Population,
  originals: number,
  experiments: number,
): VerdictShares {
  const definition = {
    baseline: 'control',
    candidates: ['candidate'],
    maximumRuns: originals,
    from: null,
    until: null,
    objectives: {},
  };
  return simulateVerdicts(experiments, (seed) => {
    const { control, candidate } = drawBatch({ ...population, repetitions: 1 }, originals, seed);
    const { compared } = analyseShadowTest({ kind: 'shadow', definition, seed }, [...control, ...candidate]);
    return compared[0]?.indicators[0]?.verdict ?? 'undecided';
  });
}

/** The verdicts of acceptance tests, and the shares of tests whose rule `mean le` passes. */
export interface AcceptanceSimulation {
  verdicts: VerdictShares;
  /** Without a tolerance. */
  passRate: number;
  /** With a tolerance of 1 %. */
  passRateWithinTolerance: number;
}

/** Returns the results of simulated acceptance tests with the rule `mean le`, without and with a tolerance of 1 %. */
export function simulateAcceptanceTests(
  population: Population,
  inputs: number,
  experiments: number,
): AcceptanceSimulation {
  const rule = (type: '' | 'relative', value: number): Metric => ({
    field: INDICATOR,
    statistic: 'mean',
    metric_type: 'direct-comparison',
    params: { operator: 'le', tolerance: { type, value } },
  });
  const side = (id: string) => ({ instance_id: id as never, version_id: '' as never });
  const definition = {
    control: side('control'),
    candidate: side('candidate'),
    metrics: [rule('', 0), rule('relative', 0.01)],
  };
  const passRates = [0, 0];
  const verdicts = simulateVerdicts(experiments, (seed) => {
    const { control, candidate } = drawBatch(population, inputs, seed);
    const { metric_results } = evaluateAcceptanceTest(
      { kind: 'acceptance', definition, status: 'completed', failures: [] },
      [...control, ...candidate],
    );
    metric_results.forEach(({ passed }, index) => {
      passRates[index] = (passRates[index] ?? 0) + Number(passed) / experiments;
    });
    return metric_results[0]?.comparison.verdict ?? 'undecided';
  });
  return { verdicts, passRate: passRates[0] ?? 0, passRateWithinTolerance: passRates[1] ?? 0 };
}

function printTests(experiments: number): void {
  const sumWrong = ({ better, worse }: VerdictShares) => better + worse;
  printTable('Shadow, by originals: better or worse on equal candidates', [1], (noise, repetitions) =>
    SAMPLE_SIZES.map((size) =>
      sumWrong(simulateShadowTests({ noise, repetitions, effect: 0 }, size, experiments)),
    ),
  );
  printTable('Shadow: worse on candidates worse by 2 %', [1], (noise, repetitions) =>
    SAMPLE_SIZES.map(
      (size) => simulateShadowTests({ noise, repetitions, effect: 0.02 }, size, experiments).worse,
    ),
  );
  for (const effect of [0, 0.02]) {
    const candidates = effect === 0 ? 'equal candidates' : 'candidates worse by 2 %';
    const rows = new Map<string, AcceptanceSimulation[]>();
    const simulateRow = (noise: Population['noise'], repetitions: number): AcceptanceSimulation[] => {
      const key = `${noise} ${repetitions}`;
      const row =
        rows.get(key) ??
        SAMPLE_SIZES.map((size) =>
          simulateAcceptanceTests({ noise, repetitions, effect }, size, experiments),
        );
      rows.set(key, row);
      return row;
    };
    printTable(`Acceptance, by inputs: better or worse on ${candidates}`, [1, 5], (noise, repetitions) =>
      simulateRow(noise, repetitions).map(({ verdicts }) => sumWrong(verdicts)),
    );
    printTable(`Acceptance: the rule "mean le" is met on ${candidates}`, [1, 5], (noise, repetitions) =>
      simulateRow(noise, repetitions).map(({ passRate }) => passRate),
    );
    printTable(`Acceptance: "mean le" within 1 % is met on ${candidates}`, [1, 5], (noise, repetitions) =>
      simulateRow(noise, repetitions).map(({ passRateWithinTolerance }) => passRateWithinTolerance),
    );
  }
}

if (import.meta.main) printTests(Number(process.argv[2] ?? 1000));
