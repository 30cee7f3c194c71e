/** Rules and verdicts of acceptance tests on unkind data: failures, few inputs, several indicators, and late rules. */
import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createAcceptanceApp,
  createAcceptanceTest,
  createBatchForTest,
  createInputSet,
  type ExpectedValues,
  fetchAcceptanceTest,
  MEAN_METRIC,
  waitForDecision,
} from '../../testing/fixtures/acceptance-tests.ts';
import {
  batchExperimentPath,
  waitForBatchEnd,
  waitForSubmission,
} from '../../testing/fixtures/batch-experiments.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createAcceptanceApp(server);
});
afterAll(() => server.close());

/** Creates a test on the batch, and returns it with its first rule when it is decided. */
async function decideTest(experiment_id: string, body: object = {}) {
  const created = await createAcceptanceTest(server, application, { experiment_id, ...body });
  const test = await waitForDecision(server, application, created.id);
  return { test, rule: test.results?.metric_results?.[0], passed: test.results?.passed };
}
const createBatch = (inputs: readonly ExpectedValues[]) => createBatchForTest(server, application, inputs);
const withTolerance = (value: number, changes: object = {}) => ({
  ...MEAN_METRIC,
  params: { operator: 'le', tolerance: { type: 'relative', value } },
  ...changes,
});

describe('D2: a candidate that loses the largest input does not pass', () => {
  let batch: string;
  beforeAll(async () => {
    batch = await createBatch(
      Array.from({ length: 20 }, (_, index) => {
        const control = 100 * (index + 1);
        return index === 19 ? { control } : { control, candidate: 1.05 * control };
      }),
    );
  });

  test('the sides are compared over the 19 inputs that both solved, and the reason names the other', async () => {
    const { rule, passed, test } = await decideTest(batch, { metrics: [withTolerance(0.01)] });
    const { runs } = await waitForBatchEnd(server, application, batch);
    const lost = runs.find((run) => run.status_v2 === 'failed');
    expect(passed).toBe(false);
    // The mean of 100 to 1,900 is 1,000; the one of all runs of the control is 1,050.
    expect(rule).toMatchObject({
      passed: false,
      control_value: 1000,
      candidate_value: 1050,
      threshold: 1010,
      statistics: {
        control: { distribution_summary_statistics: { count: 20, mean: 1050 } },
        candidate: { distribution_summary_statistics: { count: 19, mean: 1050 } },
      },
      comparison: { verdict: 'worse', failures: { candidate_only: 1, control_only: 0 } },
    });
    expect(rule?.reason).toContain(
      `Compared over the 19 of 20 inputs that both sides solved. The candidate failed on 1 of 20 inputs that the control solved: "${lost?.input_id}" (run ${lost?.id}); the test allows none.`,
    );
    expect(test).not.toHaveProperty('failure_margin');
  });

  test.each([
    [undefined, false],
    [null, false],
    [0.04, false],
    [0.05, true],
  ])('with a failure margin of %s and a wide tolerance, passed is %s', async (failure_margin, expected) => {
    const { passed, test } = await decideTest(batch, { metrics: [withTolerance(0.06)], failure_margin });
    expect(passed).toBe(expected);
    expect(test.failure_margin).toBe(failure_margin ?? undefined);
  });
});

describe('non-inferiority', () => {
  test('needs the bound of the effect within the tolerance, where the estimate alone is not enough', async () => {
    // The candidate costs 2 % more on half of the inputs and 2 % less on the others: a ratio near 1, with a bound of 1.01.
    const inputs = Array.from({ length: 10 }, (_, index) => {
      const control = 100 + index;
      return { control, candidate: control * (index % 2 === 0 ? 1.02 : 0.98) };
    });
    const batch = await createBatch(inputs);
    const decide = async (operator: string, type: string, value: number) => {
      const metric = {
        ...MEAN_METRIC,
        hypothesis: 'non-inferiority',
        params: { operator, tolerance: { type, value } },
      };
      return (await decideTest(batch, { metrics: [metric] })).rule;
    };
    // The logarithms are ±0.02 but for 0.0002: their standard error is 0.0211 / √10, times Student's 1.833 is 0.0122.
    const wide = await decide('le', 'relative', 0.02);
    expect(wide).toMatchObject({
      passed: true,
      threshold: 1.02,
      control_value: 104.5,
      non_inferiority: { measure: 'ratio', effect: expect.closeTo(Math.sqrt(1.02 * 0.98), 9), inputs: 10 },
    });
    expect(wide?.non_inferiority?.bound).toBeGreaterThan(1.012);
    expect(wide?.non_inferiority?.bound).toBeLessThan(1.018);
    expect(await decide('le', 'relative', 0.01)).toMatchObject({ passed: false, threshold: 1.01 });
    expect(await decide('ge', 'relative', 0.02)).toMatchObject({ passed: true, threshold: 0.98 });
    expect(await decide('le', 'absolute', 0.5)).toMatchObject({
      passed: false,
      threshold: 0.5,
      non_inferiority: { measure: 'difference' },
    });
    // A comparison of the means is met, and says that the data do not show the same for other inputs.
    const compared = await decideTest(batch, { metrics: [withTolerance(0.01)] });
    expect(compared.rule).toMatchObject({ passed: true, non_inferiority: { within_tolerance: false } });
    expect(compared.rule?.warnings).toEqual([
      expect.stringMatching(
        /^The rule is met .* loses at most 1\u00a0% in result\.value on others: the one-sided 95 % bound of the loss is 1\.\d+\u00a0%\. Add `hypothesis: non-inferiority` to the rule/,
      ),
    ]);
    expect(wide).toMatchObject({ warnings: [], non_inferiority: { within_tolerance: true } });
  });

  test('is not met with nine inputs', async () => {
    const batch = await createBatch(Array.from({ length: 9 }, (_, n) => ({ control: 10 + n, candidate: 1 })));
    const { rule } = await decideTest(batch, {
      metrics: [withTolerance(0.5, { hypothesis: 'non-inferiority' })],
    });
    expect(rule).toMatchObject({ passed: false, non_inferiority: { inputs: 9 } });
    expect(rule?.reason).toContain('Both sides solved 9 inputs; non-inferiority needs at least 10.');
  });
});

describe('T3: non-inferiority in other statistics than the mean', () => {
  const CONTROL = [10, 12, 9, 15, 11, 30, 8, 10.5, 14, 22, 9.5, 10.2];
  const DIFFERENCES = [0.3, 1.2, -0.4, 2.5, 0.9, 4.8, 0.1, 0.7, 1.6, 3.3, -0.2, 0.5];
  let batch: string;
  beforeAll(async () => {
    batch = await createBatch(
      CONTROL.map((control, index) => ({ control, candidate: control + (DIFFERENCES[index] ?? 0) })),
    );
  });
  const decide = async (statistic: string, operator: string, value: number, hypothesis?: string) => {
    const params = { operator, tolerance: { type: 'relative', value } };
    const metric = { ...MEAN_METRIC, statistic, params, ...(hypothesis ? { hypothesis } : {}) };
    return (await decideTest(batch, { metrics: [metric] })).rule;
  };

  // numpy 2.4.6: the shifted geometric means are 7.79 % apart, with one-sided 95 % bounds of 1.0395 and 1.1113. The medians
  // are 11.55 / 10.75 = 1.0744 apart, with bootstrap bounds of 1.025 and 1.1308.
  test.each([
    ['shifted_geometric_mean', 'le', 0.12, true],
    ['shifted_geometric_mean', 'le', 0.1, false],
    ['shifted_geometric_mean', 'ge', 0, true],
    ['p50', 'le', 0.14, true],
    ['p50', 'le', 0.08, false],
    ['p50', 'ge', 0, true],
  ])('%s %s with a tolerance of %d: met %s', async (statistic, operator, tolerance, passed) => {
    const rule = await decide(statistic, operator, tolerance, 'non-inferiority');
    expect(rule).toMatchObject({
      passed,
      non_inferiority: { measure: 'ratio', inputs: 12, within_tolerance: passed },
    });
    const ratio = (rule?.candidate_value ?? 0) / (rule?.control_value ?? 0);
    expect(rule?.non_inferiority?.effect).toBeCloseTo(ratio, 9);
    expect(rule?.reason).toContain(
      `bound of the ratio of the candidate’s ${statistic.replaceAll('_', ' ')} to the control’s for result.value`,
    );
  });

  test('p95 of twelve inputs is refused with the number that it needs', async () => {
    const rule = await decide('p95', 'le', 0.5, 'non-inferiority');
    expect(rule).toMatchObject({ passed: false, non_inferiority: { bound: null, inputs: 12 } });
    expect(rule?.reason).toContain('Both sides solved 12 inputs; non-inferiority in p95 needs at least 59.');
  });

  test('without a hypothesis, the rule is met by the numbers and warns of other inputs', async () => {
    for (const statistic of ['shifted_geometric_mean', 'p50']) {
      const rule = await decide(statistic, 'le', 0.08);
      expect(rule).toMatchObject({ passed: true, non_inferiority: { within_tolerance: false } });
      expect(rule?.warnings?.[0]).toContain('the one-sided 95 % bound of the loss is 1');
    }
    const rule = await decide('max', 'le', 0.2);
    expect(rule?.passed).toBe(true);
    expect(rule?.warnings?.[0]).toContain('The rule compares the max of these runs');
  });
});

describe('verdicts', () => {
  test('D3: a candidate that fails on half of the inputs is neither better nor equivalent', async () => {
    const inputs = Array.from({ length: 12 }, (_, n) =>
      n % 2 === 0 ? { control: 100 + n, candidate: 90 + n } : { control: 100 + n },
    );
    const { rule } = await decideTest(await createBatch(inputs));
    expect(rule?.passed).toBe(false);
    expect(rule?.comparison.verdict).not.toBe('better');
    expect(rule?.comparison.verdict).not.toBe('equivalent');
  });

  test('D4: one input without a difference is not equivalent', async () => {
    const { rule } = await decideTest(await createBatch([{ control: 5, candidate: 5 }]));
    expect(rule).toMatchObject({ passed: true, comparison: { verdict: 'undecided' } });
  });

  test('T1: one input without a difference meets the rule, and releases nothing', async () => {
    const { test, rule } = await decideTest(await createBatch([{ control: 5, candidate: 5 }]));
    expect(rule).toMatchObject({ passed: true, tied: true });
    expect(test.decision).toMatchObject({ release: 'undecided', because_of: [{ rule: 0 }] });
  });

  test('D11: 8 wins and 12 ties are better', async () => {
    const inputs = Array.from({ length: 20 }, (_, n) => ({
      control: 100 + n,
      candidate: (7 * n) % 20 < 8 ? 80 + n : 100 + n,
    }));
    const { rule } = await decideTest(await createBatch(inputs));
    // All of 8 signs are equal with a probability of 2 / 2^8.
    expect(rule?.comparison).toMatchObject({ verdict: 'better', wilcoxon: { n: 8, p_value: 2 / 2 ** 8 } });
  });

  test('D7: the verdict uses the p-value that is corrected for all rules', async () => {
    const inputs = Array.from({ length: 14 }, (_, n) => ({
      control: 100 + n,
      candidate: n < 6 ? 60 + n : 100 + n,
    }));
    const batch = await createBatch(inputs);
    const alone = await decideTest(batch);
    // All of 6 signs are equal with a probability of 2 / 2^6 = 0.031; twice that is above 0.04.
    expect(alone.rule?.comparison).toMatchObject({
      verdict: 'better',
      wilcoxon: { p_value_holm: 2 / 2 ** 6 },
    });
    const both = await decideTest(batch, {
      metrics: [MEAN_METRIC, { ...MEAN_METRIC, field: 'result.custom.doubled' }],
    });
    expect(both.rule?.comparison).toMatchObject({
      verdict: 'undecided',
      wilcoxon: { p_value: 2 / 2 ** 6, p_value_holm: 4 / 2 ** 6 },
    });
  });

  test('D12: a rule of equality has no direction, so its verdict is higher or lower', async () => {
    const inputs = Array.from({ length: 10 }, (_, n) => ({ control: 90 + n, candidate: 100 + n }));
    const batch = await createBatch(inputs);
    const operators = ['eq', 'le', 'ge'].map((operator) => ({ ...MEAN_METRIC, params: { operator } }));
    const { test } = await decideTest(batch, { metrics: operators });
    expect(
      test.results?.metric_results?.map(({ comparison }) => [comparison.objective, comparison.verdict]),
    ).toEqual([
      ['none', 'higher'],
      ['minimize', 'worse'],
      ['maximize', 'better'],
    ]);
  });
});

test('D16: a rule about a flag compares the share of true', async () => {
  const inputs = Array.from({ length: 10 }, (_, n) => ({ control: true, candidate: n > 0, number: n }));
  const metrics = [undefined, 'non-inferiority'].map((hypothesis) => ({
    ...MEAN_METRIC,
    hypothesis,
    params: { operator: 'ge', tolerance: { type: 'absolute', value: 0.15 } },
  }));
  const { test } = await decideTest(await createBatch(inputs), { metrics });
  expect(test.results?.metric_results).toMatchObject([
    { passed: true, control_value: 1, candidate_value: 0.9, comparison: { value_type: 'flag' } },
    { passed: false, reason: expect.stringContaining('result.value is a flag') },
  ]);
});

test('profiles compare both sides on every field with a direction, as in the results of a batch', async () => {
  const batch = await createBatch([
    { control: 10, candidate: 20 },
    { control: 40, candidate: 30 },
    { control: 50 },
  ]);
  const { test } = await decideTest(batch, {
    metrics: [
      { ...MEAN_METRIC, params: { operator: 'eq' } },
      { ...MEAN_METRIC, params: { operator: 'ge' }, statistic: 'max' },
      MEAN_METRIC,
      { ...MEAN_METRIC, field: 'result.custom.doubled', params: { operator: 'ne' } },
    ],
  });
  expect(test.results?.profiles).toMatchObject([
    {
      indicator: 'result.value',
      objective: 'maximize',
      inputs: { total: 3, used: 3, solved_by_all: 2 },
      // The larger of 10 and 20, and of 40 and 30.
      virtual_best: 30,
      virtual_worst: 20,
      groups: [
        { instance_id: 'control', version_id: 'v1', solved_share: 1, wins: 2, pairwise: null },
        { instance_id: 'candidate', wins: 1, pairwise: { candidate: expect.any(Array) } },
      ],
    },
    { indicator: 'result.custom.doubled', objective: 'none', virtual_best: null },
  ]);
  const [, candidate] = test.results?.profiles?.[0]?.groups ?? [];
  // The best on one of three inputs, 4 / 3 times worse on another, failed on the third.
  expect(candidate?.performance).toEqual([
    { x: 1, share: 1 / 3 },
    { x: expect.closeTo(4 / 3, 9), share: 2 / 3 },
  ]);
});

describe('rules before results', () => {
  test('are those of a test that creates its batch, not those of a later test on it', async () => {
    const input_set_id = await createInputSet(server, application, [{ control: 1, candidate: 1 }]);
    const first = await createAcceptanceTest(server, application, { id: 'rules-first', input_set_id });
    expect(first).toMatchObject({ rules_before_results: true, tests_on_batch: 1, warnings: [] });
    expect((await waitForDecision(server, application, 'rules-first')).rules_before_results).toBe(true);
    const second = await createAcceptanceTest(server, application, { experiment_id: 'rules-first' });
    const late = expect.stringContaining('The rules came after a result of the batch');
    const several = (tests: number) =>
      expect.stringMatching(new RegExp(`^${tests} acceptance tests were made .* up to ${5 * tests}\u00a0%`));
    expect(second).toMatchObject({
      rules_before_results: false,
      tests_on_batch: 2,
      warnings: [late, several(2)],
    });
    expect(await fetchAcceptanceTest(server, application, 'rules-first')).toMatchObject({
      rules_before_results: true,
      tests_on_batch: 2,
      warnings: [several(2)],
    });
    const listed = await server.request('GET', `/v1/applications/${application}/experiments/acceptance`);
    const tests = (listed.body as AcceptanceTest[]).filter((one) => one.experiment_id === 'rules-first');
    expect(tests.map((one) => [one.rules_before_results, one.tests_on_batch])).toEqual([
      [false, 2],
      [true, 2],
    ]);
    // A deleted test had its chance to pass too.
    const path = `/v1/applications/${application}/experiments/acceptance/${second.id}`;
    expectStatus(await server.request('DELETE', path), 204);
    const third = await createAcceptanceTest(server, application, { experiment_id: 'rules-first' });
    expect(third).toMatchObject({ tests_on_batch: 3, warnings: [late, several(3)] });
  });

  test('are those of a test on a batch without a result; a deleted run counts as read', async () => {
    // Without a slot, no run ends.
    await using idle = await startTestServer({ env: { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' } });
    const own = await createAcceptanceApp(idle);
    const inputs = [
      { control: 1, candidate: 1 },
      { control: 2, candidate: 2 },
    ];
    const experiment_id = await createBatchForTest(idle, own, inputs);
    await waitForSubmission(idle, experiment_id);
    const create = () => createAcceptanceTest(idle, own, { experiment_id });
    expect(await create()).toMatchObject({ rules_before_results: true, tests_on_batch: 1 });
    const { body } = await idle.request('GET', batchExperimentPath(own, `/${experiment_id}/runs`));
    const [run] = (body as { runs: { id: string }[] }).runs;
    expectStatus(await idle.request('DELETE', `/v1/applications/${own}/runs/${run?.id}`), 204);
    expect(await create()).toMatchObject({ rules_before_results: false, tests_on_batch: 2 });
  });
});
