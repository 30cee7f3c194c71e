/** Ensembles as sides of acceptance tests. */
import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createArithmeticEnsemble } from '../../testing/fixtures/batch-ensembles.ts';
import {
  batchExperimentPath,
  createBatchExperiment,
  createExperimentApplication,
  waitForBatchEnd,
} from '../../testing/fixtures/batch-experiments.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await createExperimentApplication(server, 'app', { plain: {} });
  await createArithmeticEnsemble(server, 'pair', { low: { factor: '0.5' }, high: { factor: '3' } });
  await createArithmeticEnsemble(server, 'none', { low: { fails: 'true' } });
});
afterAll(() => server.close());

const PATH = '/v1/applications/app/experiments/acceptance';
const rule = (field = 'result.value') => ({
  field,
  statistic: 'mean',
  metric_type: 'direct-comparison',
  params: { operator: 'le' },
});
const postTest = (body: object) =>
  server.request('POST', PATH, { body: { name: 'Any name', metrics: [rule()], ...body } });
const waitForResults = (id: string) =>
  server.waitUntil('experiments-ended', async () => {
    const { body } = await server.request('GET', `${PATH}/${id}`);
    const found = body as AcceptanceTest;
    return found.results && found;
  });

test('an acceptance test creates a batch with an ensemble as the candidate', async () => {
  const candidate = { ensemble_id: 'pair' };
  const body = { id: 'made', control: { instance_id: 'plain' }, candidate, input_set_id: 'sizes' };
  const created = await postTest({ ...body, metrics: [rule(), rule('run.total_duration')] });
  expectStatus(created, 201);
  expect(created.body).toMatchObject({
    control: { instance_id: 'plain', version_id: '' },
    candidate: { instance_id: '', version_id: '', ensemble_id: 'pair' },
  });
  // The inputs have the sizes 1, 2 and 3. Without the seconds of each run, the rule on the cost would have no values.
  expect(await waitForResults('made')).toMatchObject({
    status: 'completed',
    results: {
      metric_results: [
        {
          passed: true,
          statistics: {
            control: { instance_id: 'plain', distribution_summary_statistics: { mean: 2 } },
            candidate: {
              instance_id: '',
              ensemble_id: 'pair',
              distribution_summary_statistics: { count: 3, mean: 1 },
            },
          },
        },
        { statistics: { candidate: { distribution_summary_statistics: { count: 3 } } } },
      ],
    },
  });
});

test('an acceptance test on a batch has an ensemble as the control, and fails a failed ensemble', async () => {
  const { id } = await createBatchExperiment(server, 'app', {
    input_set_id: 'sizes',
    runs: [{ ensemble_id: 'none' }, { instance_id: 'plain' }, { ensemble_id: 'pair' }],
  });
  await waitForBatchEnd(server, 'app', id);
  const control = { ensemble_id: 'pair' };
  expectStatus(
    await postTest({ id: 'on-batch', experiment_id: id, control, candidate: { ensemble_id: 'none' } }),
    201,
  );
  const { results } = await waitForResults('on-batch');
  expect(results).toMatchObject({ passed: false });
  expect(results?.metric_results?.[0]?.reason).toContain(
    'All 3 runs of the candidate (ensemble "none") failed.',
  );
  const { body } = await server.request('GET', batchExperimentPath('app', `/${id}`));
  expect(body).toMatchObject({
    comparisons: [{ control: { ensemble_id: 'pair' } }, { control: { ensemble_id: 'pair' } }],
  });
});

test('a test is a 400 for an ensemble that is unknown, not in the batch, or beside an instance', async () => {
  const { id } = await createBatchExperiment(server, 'app', {
    input_set_id: 'sizes',
    runs: [{ instance_id: 'plain' }],
  });
  const plain = { instance_id: 'plain' };
  const pair = { ensemble_id: 'pair' };
  const cases: [object, string][] = [
    [{ control: plain, candidate: {}, input_set_id: 'sizes' }, 'candidate.instance_id is missing'],
    [
      { control: plain, candidate: { ...plain, ...pair }, input_set_id: 'sizes' },
      'candidate.ensemble_id is "pair" and candidate.instance_id is "plain"',
    ],
    [
      { id: 'new', control: { ensemble_id: 'nowhere' }, candidate: plain, input_set_id: 'sizes' },
      'control.ensemble_id is "nowhere"',
    ],
    [{ control: pair, candidate: pair, input_set_id: 'sizes' }, 'candidate.ensemble_id is "pair"'],
    [{ experiment_id: id, control: plain, candidate: pair }, 'candidate.ensemble_id is "pair", of which'],
  ];
  for (const [body, message] of cases) expectError(await postTest(body), 400, message);
});
