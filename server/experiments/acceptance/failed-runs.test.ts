/** Runs without a result: batches and acceptance tests report errors, and runs that were canceled or deleted. */
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
import type { ExperimentRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createAcceptanceApp,
  createAcceptanceTest,
  createBatchForTest,
  type ExpectedValues,
  MEAN_METRIC,
  waitForDecision,
} from '../../testing/fixtures/acceptance-tests.ts';
import {
  batchExperimentPath,
  waitForBatchEnd,
  waitForSubmission,
} from '../../testing/fixtures/batch-experiments.ts';
import { endRuns, WITHOUT_EXECUTION } from '../../testing/fixtures/chosen-outcomes.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createAcceptanceApp(server);
});
afterAll(() => server.close());

const EXIT_ERROR = 'The app ended with exit code 1.';

/** Runs a batch on the inputs and an acceptance test on it to their ends. */
async function runTestToEnd(inputs: readonly ExpectedValues[]) {
  const id = await createBatchForTest(server, application, inputs);
  const created = await createAcceptanceTest(server, application, { experiment_id: id });
  const batch = await waitForBatchEnd(server, application, id);
  const { results } = await waitForDecision(server, application, created.id);
  return { batch, results, reason: results?.metric_results?.[0]?.reason ?? '' };
}
/** Returns the ids of the failed runs of an instance, oldest first. */
const listFailedRunIds = ({ runs }: BatchExperiment, instance: string): string[] =>
  runs
    .filter((run) => run.instance_id === instance && run.status_v2 === 'failed')
    .map((run) => run.id)
    .sort();

test('when every run failed, batch and test name the error, a run and the number of runs with it', async () => {
  const { batch, results, reason } = await runTestToEnd([{}, {}, {}]);
  const [control] = listFailedRunIds(batch, 'control');
  const [candidate] = listFailedRunIds(batch, 'candidate');
  const failure = { version_id: 'v1', error: EXIT_ERROR, number_of_runs: 3 };
  expect(batch.failures.toSorted((one, other) => (one.instance_id < other.instance_id ? -1 : 1))).toEqual([
    { ...failure, instance_id: 'candidate', run_id: candidate },
    { ...failure, instance_id: 'control', run_id: control },
  ]);
  const formatFailure = (side: string, run: string | undefined) =>
    `All 3 runs of the ${side} (instance "${side}") failed. The first error, the same in 3 runs: "${EXIT_ERROR}" (${run}).`;
  const both = `${formatFailure('control', control)} ${formatFailure('candidate', candidate)}`;
  expect(results?.error).toBe(`No run of the batch experiment succeeded. ${both}`);
  expect(reason).toContain(both);
});

test('the reason names a side with some failed runs, and the first error', async () => {
  const { batch, results, reason } = await runTestToEnd([{ control: 2, candidate: 1 }, { control: 2 }]);
  const [candidate] = listFailedRunIds(batch, 'candidate');
  expect(results).toMatchObject({ passed: false });
  expect(results).not.toHaveProperty('error');
  expect(reason).toContain(
    `1 of 2 runs of the candidate (instance "candidate") failed. The first error, of one run: "${EXIT_ERROR}" (${candidate}).`,
  );
  expect(reason).not.toContain('of the control');
});

test('runs that could not be submitted are counted, with a null run_id', async () => {
  // Without a slot, submitted runs stay queued, so every failure is a refused submission.
  await using idle = await startTestServer({ env: { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' } });
  const idleApplication = await createAcceptanceApp(idle);
  const id = await createBatchForTest(idle, idleApplication, [{ control: 1, candidate: 1 }], {
    repetitions: 150,
  });
  expectStatus(await idle.request('DELETE', `/v1/applications/${idleApplication}/instances/candidate`), 204);
  const failures = await idle.waitUntil('runs-ended', async () => {
    const batch = (await idle.request('GET', batchExperimentPath(idleApplication, `/${id}`)))
      .body as BatchExperiment;
    return batch.failures.length > 0 ? batch.failures : null;
  });
  expect(failures).toEqual([
    {
      instance_id: 'candidate',
      version_id: expect.any(String),
      error: expect.stringContaining('There is no instance'),
      run_id: null,
      number_of_runs: expect.any(Number),
    },
  ]);
});

test('a metric that one side does not report names that side and the indicator', async () => {
  const inputs = [
    { control: 1, candidate: null },
    { control: 3, candidate: null },
  ];
  const { results, reason } = await runTestToEnd(inputs);
  expect(results).toMatchObject({ passed: false, metric_results: [{ metric: MEAN_METRIC }] });
  expect(reason).toContain(
    'All 2 runs of the candidate (instance "candidate") succeeded, and none reported a number as result.value.',
  );
  const warnings = results?.metric_results?.[0]?.comparison.warnings.join(' ');
  expect(warnings).toContain(
    'The candidate (instance "candidate", version "v1") does not report result.value: none of its 2 successful runs has a number under this name.',
  );
  expect(warnings).not.toContain('lost runs differently');
});

test('a candidate whose runs are canceled or deleted meets no rule', async () => {
  await using idle = await startTestServer({ env: WITHOUT_EXECUTION });
  const app = await createAcceptanceApp(idle);
  const id = await createBatchForTest(
    idle,
    app,
    Array.from({ length: 12 }, (_, n) => ({ control: n })),
  );
  const tolerance = { type: 'relative', value: 0.01 };
  const plain = { ...MEAN_METRIC, params: { operator: 'le', tolerance } };
  const threshold = { ...plain, metric_type: 'absolute-threshold', params: { operator: 'le' } };
  const params = { operator: 'le', tolerance: { type: 'absolute', value: 100 } };
  const metrics = [plain, { ...threshold, params }, { ...plain, hypothesis: 'non-inferiority' }];
  const test = await createAcceptanceTest(idle, app, { experiment_id: id, metrics });
  const path = `/v1/applications/${app}/runs`;
  const ends: [method: string, rest: string, sides: string[]][] = [
    ['PATCH', '/cancel', ['candidate']],
    ['DELETE', '', ['candidate']],
    ['DELETE', '', ['candidate', 'control']],
  ];
  await waitForSubmission(idle, id);
  const { body } = await idle.request('GET', batchExperimentPath(app, `/${id}/runs`));
  const { runs } = body as { runs: ExperimentRun[] };
  const inputs = [...new Set(runs.map(({ input_id }) => input_id))].slice(0, ends.length);
  await endRuns(idle, id, ({ input_id }) =>
    inputs.includes(input_id) ? null : { indicators: { 'result.value': 5 } },
  );
  for (const [index, [method, rest, sides]] of ends.entries())
    for (const run of runs.filter((one) => one.input_id === inputs[index] && sides.includes(one.instance_id)))
      expectStatus(await idle.request(method, `${path}/${run.id}${rest}`), 204);
  // The control of the first two inputs is the last to end.
  await endRuns(idle, id, () => ({ indicators: { 'result.value': 5 } }));
  const { results } = await waitForDecision(idle, app, test.id);
  expect(results?.metric_results).toHaveLength(metrics.length);
  for (const { passed, candidate_value, warnings, reason } of results?.metric_results ?? []) {
    expect({ passed, candidate_value, warnings }).toEqual({
      passed: false,
      candidate_value: 5,
      warnings: [],
    });
    expect(reason).toContain(
      'The candidate failed or was canceled on 2 of 11 inputs that the control solved',
    );
    expect(reason.split('All runs of 1 of 12 inputs were deleted')).toHaveLength(2);
  }
});
