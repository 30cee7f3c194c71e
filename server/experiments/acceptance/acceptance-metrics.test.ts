/** Decisions of acceptance tests, by arithmetic: each metric type and operator, with and without a tolerance. */
import type { MetricResult } from '@switchyard/contract/experiments/acceptance-results.ts';
import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createAcceptanceApp,
  createAcceptanceTest,
  createBatchForTest,
  createInputSet,
  MEAN_METRIC,
  waitForDecision,
} from '../../testing/fixtures/acceptance-tests.ts';
import { waitForSubmission } from '../../testing/fixtures/batch-experiments.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createAcceptanceApp(server);
});
afterAll(() => server.close());

/** Creates a test on the batch and waits for its decision. */
async function decideTest(experiment_id: string, metrics: readonly object[], body: object = {}) {
  const created = await createAcceptanceTest(server, application, { experiment_id, metrics, ...body });
  const test = await waitForDecision(server, application, created.id);
  return { test, metric_results: test.results?.metric_results ?? [] };
}
const listOutcomes = (metric_results: readonly MetricResult[]) =>
  metric_results.map(({ metric: { metric_type, params }, passed }) => [
    metric_type,
    params.operator,
    params.tolerance?.type,
    params.tolerance?.value,
    passed,
  ]);

describe('a control with mean 20 and a candidate with mean 21', () => {
  const INPUTS = [
    { control: 10, candidate: 11 },
    { control: 20, candidate: 19 },
    { control: 30, candidate: 33 },
  ];
  const OPERATORS = ['gt', 'ge', 'lt', 'le', 'eq', 'ne'] as const;
  /** Metric type, tolerance type, tolerance value, and the operators that hold. */
  type Row = [string, string, number, string];
  const TABLE: Row[] = [
    // 21 compares with 20.
    ['direct-comparison', '', 0, 'gt ge ne'],
    // gt and ge compare with 19, lt and le with 21; the means are 1 apart.
    ['direct-comparison', 'absolute', 1, 'gt ge le eq'],
    ['direct-comparison', 'absolute', 0.5, 'gt ge ne'],
    // 0.05 of 20 is 1, as above; 0.1 of 20 is 2.
    ['direct-comparison', 'relative', 0.05, 'gt ge le eq'],
    ['direct-comparison', 'relative', 0.1, 'gt ge lt le eq'],
    // 21 compares with the value, regardless of the control and the tolerance type.
    ['absolute-threshold', '', 0, 'gt ge ne'],
    ['absolute-threshold', 'absolute', 21, 'ge le eq'],
    ['absolute-threshold', 'absolute', 22, 'lt le ne'],
    ['absolute-threshold', 'absolute', -1, 'gt ge ne'],
    ['absolute-threshold', 'relative', 21, 'ge le eq'],
    // The difference of 1 compares with the value, or with that share of 20.
    ['difference-threshold', '', 0, 'gt ge ne'],
    ['difference-threshold', 'absolute', 1, 'ge le eq'],
    ['difference-threshold', 'absolute', 2, 'lt le ne'],
    ['difference-threshold', 'absolute', -1, 'gt ge ne'],
    ['difference-threshold', 'relative', 0.05, 'ge le eq'],
    ['difference-threshold', 'relative', 0.1, 'lt le ne'],
  ];
  const buildMetric = ([metric_type, type, value]: Row, operator: string) => ({
    ...MEAN_METRIC,
    metric_type,
    params: { operator, tolerance: { type, value } },
  });

  let batch: string;
  beforeAll(async () => {
    batch = await createBatchForTest(server, application, INPUTS);
  });

  test('each operator holds as the table says, and the test passes when every metric passes', async () => {
    const cases = TABLE.flatMap((row) => OPERATORS.map((operator) => ({ row, operator })));
    const metrics = cases.map(({ row, operator }) => buildMetric(row, operator));
    const { test, metric_results } = await decideTest(batch, metrics);
    const expected = cases.map(({ row, operator }) => ({
      ...buildMetric(row, operator),
      passed: row[3].split(' ').includes(operator),
    }));
    expect(listOutcomes(metric_results)).toEqual(
      expected.map(({ metric_type, params, passed }) => [
        metric_type,
        params.operator,
        params.tolerance.type,
        params.tolerance.value,
        passed,
      ]),
    );
    expect(test).toMatchObject({ status: 'completed', results: { passed: false } });
    const passedMetrics = expected.filter(({ passed }) => passed).map(({ passed: _, ...metric }) => metric);
    const passing = await decideTest(batch, passedMetrics);
    expect(passing.test.results?.passed).toBe(true);
    // One failed metric fails the test.
    const { test: failing } = await decideTest(batch, [
      ...passedMetrics,
      { ...MEAN_METRIC, params: { operator: 'lt' } },
    ]);
    expect(failing.results?.passed).toBe(false);
  });

  test('the result has the statistics and percentiles of the values of each side', async () => {
    const { test, metric_results } = await decideTest(batch, [MEAN_METRIC]);
    const [first] = metric_results;
    const side = { version_id: 'v1', number_of_runs_total: 3 };
    const candidate = {
      ...side,
      instance_id: 'candidate',
      distribution_summary_statistics: {
        min: 11,
        max: 33,
        count: 3,
        mean: 21,
        // The deviations from the mean are -10, -2 and 12.
        std: expect.closeTo(Math.sqrt((100 + 4 + 144) / 2), 10),
        shifted_geometric_mean: expect.closeTo((21 * 29 * 43) ** (1 / 3) - 10, 10),
        shift_parameter: 10,
      },
      distribution_percentiles: {
        p01: expect.closeTo(11.16, 10),
        p05: expect.closeTo(11.8, 10),
        p10: expect.closeTo(12.6, 10),
        p25: 15,
        p50: 19,
        p75: 26,
        p90: expect.closeTo(30.2, 10),
        p95: expect.closeTo(31.6, 10),
        p99: expect.closeTo(32.72, 10),
      },
    };
    expect(first).toEqual({
      metric: {
        field: 'result.value',
        statistic: 'mean',
        metric_type: 'direct-comparison',
        params: { operator: 'le', tolerance: { type: '', value: 0 } },
      },
      warnings: [],
      non_inferiority: {
        measure: 'difference',
        effect: 1,
        bound: null,
        within_tolerance: false,
        inputs: 3,
      },
      passed: false,
      statistics: { control: expect.objectContaining({ ...side, instance_id: 'control' }), candidate },
      control_value: 20,
      candidate_value: 21,
      threshold: 20,
      reason: 'The candidate’s mean of result.value, 21, is above 20. Compared over 3 inputs.',
      comparison: expect.objectContaining({
        indicator: 'result.value',
        objective: 'minimize',
        verdict: 'undecided',
        inputs: { total: 3, usable: 3, wins: 1, ties: 0, losses: 2 },
      }),
    });
    expect(test.results).toEqual({
      passed: false,
      method: '2026-11.5',
      metric_results,
      profiles: [expect.objectContaining({ virtual_best: 59 / 3 })],
    });
  });

  test.each([
    ['min', 11],
    ['max', 33],
    ['count', 3],
    ['p50', 19],
    ['P50', 19],
    ['Shifted Geometric Mean', (21 * 29 * 43) ** (1 / 3) - 10],
    ['std', Math.sqrt(124)],
  ])('%s of the candidate is %d', async (statistic, value) => {
    const metric = {
      ...MEAN_METRIC,
      statistic,
      metric_type: 'absolute-threshold',
      params: { operator: 'gt' },
    };
    const { metric_results } = await decideTest(batch, [metric]);
    expect(metric_results[0]?.candidate_value).toBeCloseTo(value, 10);
    expect(metric_results[0]?.metric.statistic).toMatch(/^[a-z0-9_]+$/);
  });

  test('operators set the objective, eq and ne set none, and any indicator can be the field', async () => {
    const metrics = (['gt', 'ge', 'lt', 'le', 'eq', 'ne'] as const).map((operator) => ({
      ...MEAN_METRIC,
      field: 'result.custom.doubled',
      params: { operator },
    }));
    const { metric_results } = await decideTest(batch, metrics);
    expect(metric_results.map(({ comparison }) => [comparison.objective, comparison.inputs.wins])).toEqual([
      ['maximize', 2],
      ['maximize', 2],
      ['minimize', 1],
      ['minimize', 1],
      ['none', 1],
      ['none', 1],
    ]);
    expect(metric_results[0]).toMatchObject({ control_value: 40, candidate_value: 42 });
  });
});

test('a candidate that costs 10 less on each of ten inputs has the verdict better', async () => {
  const inputs = Array.from({ length: 10 }, (_, n) => ({ control: 100 + n, candidate: 90 + n }));
  const batch = await createBatchForTest(server, application, inputs);
  const { metric_results } = await decideTest(batch, [MEAN_METRIC]);
  expect(metric_results[0]).toMatchObject({ passed: true, comparison: { verdict: 'better' } });
});

describe('missing numbers', () => {
  const countRunsBySide = (test: AcceptanceTest) => {
    const { control, candidate } = test.results?.metric_results?.[0]?.statistics ?? {};
    return [control, candidate].map((side) => [
      side?.number_of_runs_total,
      side?.distribution_summary_statistics.count,
    ]);
  };

  test('a side without numbers passes no metric, and its statistics are 0', async () => {
    const batch = await createBatchForTest(server, application, [
      { control: 1, candidate: null },
      { control: 3, candidate: null },
    ]);
    const metrics = ['le', 'ne', 'gt'].map((operator) => ({ ...MEAN_METRIC, params: { operator } }));
    const { test, metric_results } = await decideTest(batch, metrics);
    expect(test).toMatchObject({ status: 'completed', results: { passed: false } });
    expect(test.results).not.toHaveProperty('error');
    expect(
      metric_results.map(({ passed, candidate_value, threshold }) => [passed, candidate_value, threshold]),
    ).toEqual([
      [false, null, null],
      [false, null, null],
      [false, null, null],
    ]);
    expect(metric_results[0]?.reason).toContain('No run of the candidate succeeded with a number');
    expect(countRunsBySide(test)).toEqual([
      [2, 2],
      [2, 0],
    ]);
    expect(metric_results[0]?.statistics.candidate.distribution_summary_statistics).toEqual({
      ...{ min: 0, max: 0, count: 0, mean: 0, std: 0 },
      shifted_geometric_mean: 0,
      shift_parameter: 10,
    });
  });

  test('an absolute threshold needs no number of the control, a difference threshold does', async () => {
    const batch = await createBatchForTest(server, application, [{ control: null, candidate: 5 }]);
    const params = { operator: 'lt', tolerance: { type: 'absolute', value: 6 } };
    const metrics = [
      { ...MEAN_METRIC, metric_type: 'absolute-threshold', params },
      { ...MEAN_METRIC, metric_type: 'difference-threshold', params },
    ];
    const { metric_results } = await decideTest(batch, metrics);
    expect(metric_results.map(({ passed }) => passed)).toEqual([true, false]);
  });

  test('failed runs and runs without a number count as runs, not as values', async () => {
    const batch = await createBatchForTest(server, application, [
      { control: 1, candidate: 1 },
      { control: 'nan', candidate: 1 },
      { candidate: 1 },
    ]);
    const { test } = await decideTest(batch, [MEAN_METRIC]);
    expect(test.results?.passed).toBe(true);
    expect(countRunsBySide(test)).toEqual([
      [3, 1],
      [3, 3],
    ]);
  });

  test('a batch without a successful run fails, and its test fails with the reason', async () => {
    const batch = await createBatchForTest(server, application, [{}, {}]);
    const metric = { ...MEAN_METRIC, metric_type: 'absolute-threshold', params: { operator: 'ge' } };
    const { test } = await decideTest(batch, [metric]);
    expect(test).toMatchObject({
      status: 'failed',
      results: { passed: false, error: expect.stringContaining('No run of the batch experiment succeeded.') },
    });
    expect(countRunsBySide(test)).toEqual([
      [2, 0],
      [2, 0],
    ]);
  });
});

test('runs that could not be submitted count for their version', async () => {
  // Without a slot, the runs wait until they are canceled.
  await using idle = await startTestServer({
    env: { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' },
  });
  const own = await createAcceptanceApp(idle);
  const input_set_id = await createInputSet(idle, own, [{ control: 1, candidate: 1 }]);
  const created = await createAcceptanceTest(idle, own, { input_set_id, repetitions: 150 });
  const path = `/v1/applications/${own}`;
  expectStatus(await idle.request('DELETE', `${path}/instances/candidate`), 204);
  const batch = `${path}/experiments/batch/${created.experiment_id}`;
  await waitForSubmission(idle, created.experiment_id);
  const { runs } = (await idle.request('GET', `${batch}/runs`)).body as { runs: { id: string }[] };
  await Promise.all(runs.map((run) => idle.request('PATCH', `${path}/runs/${run.id}/cancel`)));
  const test = await waitForDecision(idle, own, created.id);
  expect(test.results?.metric_results?.[0]?.statistics).toMatchObject({
    control: { version_id: 'v1', number_of_runs_total: 150 },
    candidate: { version_id: 'v1', number_of_runs_total: 150 },
  });
});
