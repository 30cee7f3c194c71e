/** The control of a batch is that of the acceptance test on it, in whatever order the batch names the instances. */
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createAcceptanceApp,
  createAcceptanceTest,
  createBatchForTest,
  createInputSet,
  requestAcceptanceTest,
  waitForDecision,
} from '../../testing/fixtures/acceptance-tests.ts';
import { batchExperimentPath, waitForBatchEnd } from '../../testing/fixtures/batch-experiments.ts';
import { expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createAcceptanceApp(server);
});
afterAll(() => server.close());

const INPUTS = [
  { control: 10, candidate: 12 },
  { control: 10, candidate: 13 },
];
const swapped = { instance_ids: ['candidate', 'control'] };
const sidesOf = ({ comparisons }: BatchExperiment) =>
  comparisons.map(({ control, candidate, indicators }) => [
    control.instance_id,
    candidate.instance_id,
    indicators[0]?.mean_difference?.value,
  ]);
/** The candidate costs 2 and 3 more. */
const RIGHT = [['control', 'candidate', 2.5]];

describe('B15: comparisons of a batch that names the candidate first', () => {
  test('are against the control of an acceptance test that is created while the batch runs', async () => {
    // As the published client does it: the candidate's runs first, then the test with the id of the batch.
    const id = uniqueId('both');
    const set = await createInputSet(server, application, INPUTS);
    const answer = await server.request(
      'GET',
      `/v1/applications/${application}/experiments/inputsets/${set}`,
    );
    const { inputs } = answer.body as { inputs: { id: string }[] };
    const runs = ['candidate', 'control'].flatMap((instance_id) =>
      inputs.map((input) => ({ instance_id, input_id: input.id, input_set_id: set })),
    );
    const made = await server.request('POST', batchExperimentPath(application), {
      body: { id, name: 'Both', runs },
    });
    expectStatus(made, 201);
    expectStatus(await requestAcceptanceTest(server, application, { id, experiment_id: id }), 201);
    expect(sidesOf(await waitForBatchEnd(server, application, id))).toEqual(RIGHT);
    const { results } = await waitForDecision(server, application, id);
    expect(results?.metric_results?.[0]?.comparison.mean_difference?.value).toBe(2.5);
  });

  test('are against it also when the batch was over before', async () => {
    const id = await createBatchForTest(server, application, INPUTS, swapped);
    expect(sidesOf(await waitForBatchEnd(server, application, id))).toEqual([['candidate', 'control', -2.5]]);
    await createAcceptanceTest(server, application, { experiment_id: id });
    expect(sidesOf(await waitForBatchEnd(server, application, id))).toEqual(RIGHT);
    // The instances are shown as they were given, and a second test changes nothing.
    const sides = { control: { instance_id: 'candidate' }, candidate: { instance_id: 'control' } };
    await createAcceptanceTest(server, application, { experiment_id: id, ...sides });
    const over = await waitForBatchEnd(server, application, id);
    expect(over).toMatchObject({ ...swapped, status: 'completed' });
    expect(sidesOf(over)).toEqual(RIGHT);
  });

  test('stay as they are when a run was deleted since', async () => {
    const id = await createBatchForTest(server, application, INPUTS, swapped);
    const { runs } = await waitForBatchEnd(server, application, id);
    expectStatus(await server.request('DELETE', `/v1/applications/${application}/runs/${runs[0]?.id}`), 204);
    await createAcceptanceTest(server, application, { experiment_id: id });
    expect(sidesOf(await waitForBatchEnd(server, application, id))).toEqual([['candidate', 'control', -2.5]]);
  });
});
