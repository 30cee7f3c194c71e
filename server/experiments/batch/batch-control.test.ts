/** A batch takes its control from its acceptance test, whichever instance the batch names first. */
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
const CANDIDATE_FIRST = { instance_ids: ['candidate', 'control'] };
const summarizeComparisons = ({ comparisons }: BatchExperiment) =>
  comparisons.map(({ control, candidate, indicators }) => [
    control.instance_id,
    candidate.instance_id,
    indicators[0]?.mean_difference?.value,
  ]);
/** The candidate costs 2 and 3 more than the control: 2.5 on average. */
const AGAINST_CONTROL = [['control', 'candidate', 2.5]];

describe('comparisons of a batch that names the candidate first', () => {
  test('use the control of an acceptance test created while the batch runs', async () => {
    // The published client requests the candidate's runs first, then creates the test with the id of the batch.
    const id = uniqueId('both');
    const set = await createInputSet(server, application, INPUTS);
    const response = await server.request(
      'GET',
      `/v1/applications/${application}/experiments/inputsets/${set}`,
    );
    const { inputs } = response.body as { inputs: { id: string }[] };
    const runs = ['candidate', 'control'].flatMap((instance_id) =>
      inputs.map((input) => ({ instance_id, input_id: input.id, input_set_id: set })),
    );
    const created = await server.request('POST', batchExperimentPath(application), {
      body: { id, name: 'Both', runs },
    });
    expectStatus(created, 201);
    expectStatus(await requestAcceptanceTest(server, application, { id, experiment_id: id }), 201);
    expect(summarizeComparisons(await waitForBatchEnd(server, application, id))).toEqual(AGAINST_CONTROL);
    const { results } = await waitForDecision(server, application, id);
    expect(results?.metric_results?.[0]?.comparison.mean_difference?.value).toBe(2.5);
  });

  test('use the control of an acceptance test created after the batch has ended', async () => {
    const id = await createBatchForTest(server, application, INPUTS, CANDIDATE_FIRST);
    expect(summarizeComparisons(await waitForBatchEnd(server, application, id))).toEqual([
      ['candidate', 'control', -2.5],
    ]);
    await createAcceptanceTest(server, application, { experiment_id: id });
    expect(summarizeComparisons(await waitForBatchEnd(server, application, id))).toEqual(AGAINST_CONTROL);
    // The instances keep the requested order, and a second test with swapped sides changes nothing.
    const sides = { control: { instance_id: 'candidate' }, candidate: { instance_id: 'control' } };
    await createAcceptanceTest(server, application, { experiment_id: id, ...sides });
    const ended = await waitForBatchEnd(server, application, id);
    expect(ended).toMatchObject({ ...CANDIDATE_FIRST, status: 'completed' });
    expect(summarizeComparisons(ended)).toEqual(AGAINST_CONTROL);
  });

  test('do not change when a run was deleted before the test was created', async () => {
    const id = await createBatchForTest(server, application, INPUTS, CANDIDATE_FIRST);
    const { runs } = await waitForBatchEnd(server, application, id);
    expectStatus(await server.request('DELETE', `/v1/applications/${application}/runs/${runs[0]?.id}`), 204);
    await createAcceptanceTest(server, application, { experiment_id: id });
    expect(summarizeComparisons(await waitForBatchEnd(server, application, id))).toEqual([
      ['candidate', 'control', -2.5],
    ]);
  });
});
