/** Runs that fail: batches and acceptance tests say why, with a run to look at and how many runs share the error. */
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createAcceptanceApp,
  createAcceptanceTest,
  createBatchForTest,
  type ExpectedValues,
  MEAN_METRIC,
  waitForDecision,
} from '../../testing/fixtures/acceptance-tests.ts';
import { batchExperimentPath, waitForBatchEnd } from '../../testing/fixtures/batch-experiments.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createAcceptanceApp(server);
});
afterAll(() => server.close());

const EXIT = 'The app ended with exit code 1.';

/** A batch on the inputs that is over, and an acceptance test on it. */
async function outcome(inputs: readonly ExpectedValues[]) {
  const id = await createBatchForTest(server, application, inputs);
  const made = await createAcceptanceTest(server, application, { experiment_id: id });
  const batch = await waitForBatchEnd(server, application, id);
  const { results } = await waitForDecision(server, application, made.id);
  return { batch, results, reason: results?.metric_results?.[0]?.reason ?? '' };
}
/** Ids of the failed runs of an instance, oldest first. */
const failedOf = ({ runs }: BatchExperiment, instance: string): string[] =>
  runs
    .filter((run) => run.instance_id === instance && run.status_v2 === 'failed')
    .map((run) => run.id)
    .sort();

test('B14: when every run failed, batch and test name the error, a run and how many share it', async () => {
  const { batch, results, reason } = await outcome([{}, {}, {}]);
  const [control] = failedOf(batch, 'control');
  const [candidate] = failedOf(batch, 'candidate');
  const failure = { version_id: 'v1', error: EXIT, number_of_runs: 3 };
  expect(batch.failures.toSorted((one, other) => (one.instance_id < other.instance_id ? -1 : 1))).toEqual([
    { ...failure, instance_id: 'candidate', run_id: candidate },
    { ...failure, instance_id: 'control', run_id: control },
  ]);
  const sentence = (side: string, run: string | undefined) =>
    `All 3 runs of the ${side} (instance "${side}") failed. The first error, the same in 3 runs: "${EXIT}" (${run}).`;
  const both = `${sentence('control', control)} ${sentence('candidate', candidate)}`;
  expect(results?.error).toBe(`No run of the batch experiment succeeded. ${both}`);
  expect(reason).toContain(both);
});

test('B14: a side some of whose runs failed is named with the first error', async () => {
  const { batch, results, reason } = await outcome([{ control: 2, candidate: 1 }, { control: 2 }]);
  const [candidate] = failedOf(batch, 'candidate');
  expect(results).toMatchObject({ passed: true });
  expect(results).not.toHaveProperty('error');
  expect(reason).toContain(
    `1 of 2 runs of the candidate (instance "candidate") failed. The first error, of one run: "${EXIT}" (${candidate}).`,
  );
  expect(reason).not.toContain('of the control');
});

test('B14: runs that could not be submitted count, and have no run to look at', async () => {
  // No slot: the runs that are submitted wait until they are canceled.
  await using idle = await startTestServer({ env: { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' } });
  const own = await createAcceptanceApp(idle);
  const id = await createBatchForTest(idle, own, [{ control: 1, candidate: 1 }], { repetitions: 150 });
  expectStatus(await idle.request('DELETE', `/v1/applications/${own}/instances/candidate`), 204);
  const failures = await idle.waitUntil('runs-ended', async () => {
    const batch = (await idle.request('GET', batchExperimentPath(own, `/${id}`))).body as BatchExperiment;
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

test('B13: a rule on what one side does not report names that side and the indicator', async () => {
  const inputs = [
    { control: 1, candidate: null },
    { control: 3, candidate: null },
  ];
  const { results, reason } = await outcome(inputs);
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
