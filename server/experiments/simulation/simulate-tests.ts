/**
 * Shows how often shadow and acceptance tests are right, on made-up experiments with a known truth, by what the tests
 * themselves answer:
 *
 *     node server/experiments/simulation/simulate-tests.ts [experiments in each cell, 1000 by default]
 *
 * Batch experiments and switchback tests are looked at by statistics/simulate.ts. A shadow test has one pair for each
 * original, whatever its input; an acceptance test has the verdict of a batch and, beside it, rules that are met or not.
 */
import { evaluateAcceptanceTest } from '../results/acceptance-evaluation.ts';
import { analyseShadowTest } from '../results/online-test-analysis.ts';
import type { Metric } from '../statistics/acceptance-metrics.ts';
import { drawBatch, INDICATOR, type Population } from './populations.ts';
import { printTable, SAMPLE_SIZES, simulateVerdicts, type VerdictShares } from './simulate-comparisons.ts';

/** The verdicts of shadow tests with so many originals; minimizing, so that an effect above 0 is worse. */
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

/** What acceptance tests say: their verdicts, and how often the rule `mean le` is met, alone and within 1 %. */
export interface AcceptanceSimulation {
  verdicts: VerdictShares;
  /** Without a tolerance. */
  passRate: number;
  passRateWithinTolerance: number;
}

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
  const met = [0, 0];
  const verdicts = simulateVerdicts(experiments, (seed) => {
    const { control, candidate } = drawBatch(population, inputs, seed);
    const { metric_results } = evaluateAcceptanceTest(
      { kind: 'acceptance', definition, status: 'completed', failures: [] },
      [...control, ...candidate],
    );
    metric_results.forEach(({ passed }, index) => {
      met[index] = (met[index] ?? 0) + Number(passed) / experiments;
    });
    return metric_results[0]?.comparison.verdict ?? 'undecided';
  });
  return { verdicts, passRate: met[0] ?? 0, passRateWithinTolerance: met[1] ?? 0 };
}

function print(experiments: number): void {
  const wrong = ({ better, worse }: VerdictShares) => better + worse;
  printTable('Shadow, by originals: better or worse on equal candidates', [1], (noise, repetitions) =>
    SAMPLE_SIZES.map((size) =>
      wrong(simulateShadowTests({ noise, repetitions, effect: 0 }, size, experiments)),
    ),
  );
  printTable('Shadow: worse, rightly, on candidates worse by 2 %', [1], (noise, repetitions) =>
    SAMPLE_SIZES.map(
      (size) => simulateShadowTests({ noise, repetitions, effect: 0.02 }, size, experiments).worse,
    ),
  );
  for (const effect of [0, 0.02]) {
    const is = effect === 0 ? 'equal candidates' : 'candidates worse by 2 %';
    const found = new Map<string, AcceptanceSimulation[]>();
    const shares = (noise: Population['noise'], repetitions: number): AcceptanceSimulation[] => {
      const key = `${noise} ${repetitions}`;
      const known =
        found.get(key) ??
        SAMPLE_SIZES.map((size) =>
          simulateAcceptanceTests({ noise, repetitions, effect }, size, experiments),
        );
      found.set(key, known);
      return known;
    };
    printTable(`Acceptance, by inputs: better or worse on ${is}`, [1, 5], (noise, repetitions) =>
      shares(noise, repetitions).map(({ verdicts }) => wrong(verdicts)),
    );
    printTable(`Acceptance: the rule "mean le" is met on ${is}`, [1, 5], (noise, repetitions) =>
      shares(noise, repetitions).map(({ passRate: met }) => met),
    );
    printTable(`Acceptance: "mean le" within 1 % is met on ${is}`, [1, 5], (noise, repetitions) =>
      shares(noise, repetitions).map(({ passRateWithinTolerance: metWithin }) => metWithin),
    );
  }
}

if (import.meta.main) print(Number(process.argv[2] ?? 1000));
