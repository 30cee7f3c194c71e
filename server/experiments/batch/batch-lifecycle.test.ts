/** Lifecycle of batch experiments: restarts of the server, deletions, and runs that fail or report no indicators. */
import type {
  BatchExperiment,
  BatchExperimentInfo,
} from '@switchyard/contract/experiments/batch-experiments.ts';
import type { ExperimentRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { createRunAndWait } from '../../testing/fixtures/apps.ts';
import {
  batchExperimentPath,
  createBatchExperiment,
  createExperimentApplication,
  waitForBatchEnd,
} from '../../testing/fixtures/batch-experiments.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { countRowsByTable, listBlobs } from '../../testing/servers/orphan-rows.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
afterEach(() => server.close());

async function start(
  inputs: readonly object[] = [{ size: 1 }, { size: 2 }],
  instances: Record<string, Record<string, string>> = { plain: {}, double: { factor: '2' } },
): Promise<string[]> {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '2' } });
  return createExperimentApplication(server, 'app', instances, inputs);
}
const buildBatch = (more: object = {}) => ({
  id: 'x',
  input_set_id: 'sizes',
  instance_ids: ['plain', 'double'],
  ...more,
});
const fetchMetadata = async (id = 'x'): Promise<BatchExperimentInfo> => {
  const response = await server.request('GET', batchExperimentPath('app', `/${id}/metadata`));
  expectStatus(response, 200);
  return response.body as BatchExperimentInfo;
};
const listRuns = async (id = 'x'): Promise<ExperimentRun[]> => {
  const response = await server.request('GET', batchExperimentPath('app', `/${id}/runs`));
  expectStatus(response, 200);
  return (response.body as { runs: ExperimentRun[] }).runs;
};
const expectNoExperimentRows = () =>
  expect
    .poll(async () => {
      const { experiments, experiment_inputs, experiment_results, planned_runs } =
        await countRowsByTable(server);
      return { experiments, experiment_inputs, experiment_results, planned_runs };
    })
    .toEqual({
      experiments: 0,
      experiment_inputs: 0,
      experiment_results: 0,
      planned_runs: 0,
    });

describe('a server that restarts during an experiment', () => {
  test('ends every run once and counts exactly, after three restarts', async () => {
    await start();
    await createBatchExperiment(server, 'app', buildBatch({ repetitions: 10 }));
    for (const minimum of [1, 15, 25]) {
      await server.waitUntil(
        'runs-ended',
        async () => (await fetchMetadata()).number_of_completed_runs >= minimum,
      );
      await server.restart();
    }
    const ended = await waitForBatchEnd(server, 'app', 'x');
    expect(ended).toMatchObject({
      status: 'completed',
      number_of_requested_runs: 40,
      number_of_runs: 40,
      number_of_completed_runs: 40,
      number_of_failed_runs: 0,
    });
    const runs = await listRuns();
    const labels = runs.map((run) =>
      JSON.stringify([run.application_instance_id, run.input_id, run.repetition]),
    );
    expect(new Set(labels).size).toBe(40);
    const [plain, double] = ended.grouped_distributional_summaries;
    // The inputs have sizes 1 and 2 and run ten times each.
    expect(plain?.indicator_distributions['result.value']).toMatchObject({ count: 20, mean: 1.5 });
    expect(double?.indicator_distributions['result.value']).toMatchObject({ count: 20, mean: 3 });
  });
});

describe('DELETE', () => {
  test('deletes running, queued and planned runs, and frees the id immediately', async () => {
    await start();
    const before = listBlobs(server).length;
    const { runs: others } = await countRowsByTable(server);
    await createBatchExperiment(
      server,
      'app',
      buildBatch({ repetitions: 50, option_sets: { slow: { waits: 'true' } } }),
    );
    await server.waitUntil('log-lines', async () =>
      (await listRuns()).some((run) => run.status_v2 === 'running'),
    );
    expectStatus(await server.request('DELETE', batchExperimentPath('app', '/x')), 204);
    expectError(await server.request('GET', batchExperimentPath('app', '/x')), 404);
    expectError(await server.request('DELETE', batchExperimentPath('app', '/x')), 404);
    expectStatus(await server.request('GET', batchExperimentPath('app')), 200);
    await createBatchExperiment(server, 'app', buildBatch({ id: 'x' }));
    expect(await waitForBatchEnd(server, 'app', 'x')).toMatchObject({
      status: 'completed',
      number_of_runs: 4,
    });
    expectStatus(await server.request('DELETE', batchExperimentPath('app', '/x')), 204);
    await expectNoExperimentRows();
    await expect.poll(async () => (await countRowsByTable(server)).runs).toBe(others);
    expect(listBlobs(server).length).toBe(before);
    // The deletion releases the slots of the running runs.
    expect((await createRunAndWait(server, 'app', { instance: 'plain', input: { size: 1 } })).status_v2).toBe(
      'succeeded',
    );
  });

  test('continues after a restart', async () => {
    await start();
    await createBatchExperiment(
      server,
      'app',
      buildBatch({ repetitions: 100, option_sets: { slow: { waits: 'true' } } }),
    );
    await server.waitUntil('log-lines', async () =>
      (await listRuns()).some((run) => run.status_v2 === 'running'),
    );
    expectStatus(await server.request('DELETE', batchExperimentPath('app', '/x')), 204);
    await server.restart();
    await expectNoExperimentRows();
  });

  test('of the input set does not change the experiment', async () => {
    await start();
    await createBatchExperiment(server, 'app', buildBatch({ repetitions: 5 }));
    expectStatus(await server.request('DELETE', '/v1/applications/app/experiments/inputsets/sizes'), 204);
    const ended = await waitForBatchEnd(server, 'app', 'x');
    expect(ended).toMatchObject({ status: 'completed', input_set_id: 'sizes', number_of_failed_runs: 0 });
    expect(ended.number_of_completed_runs).toBe(20);
  });

  test('of the last unfinished runs ends the experiment, which does not count them any more', async () => {
    await start();
    await createBatchExperiment(server, 'app', {
      id: 'x',
      input_set_id: 'sizes',
      option_sets: { slow: { waits: 'true' } },
      runs: [{ instance_id: 'plain', option_set: 'slow' }, { instance_id: 'double' }],
    });
    const waiting = await server.waitUntil('runs-queued', async () => {
      const slow = (await listRuns()).filter((run) => run.option_set === 'slow');
      return slow.length === 2 && slow;
    });
    for (const run of waiting)
      expectStatus(await server.request('DELETE', `/v1/applications/app/runs/${run.id}`), 204);
    expect(await waitForBatchEnd(server, 'app', 'x')).toMatchObject({
      status: 'completed',
      number_of_requested_runs: 4,
      number_of_runs: 2,
      number_of_completed_runs: 2,
    });
  });
});

describe('runs that do not succeed', () => {
  test('are counted, and contribute no values', async () => {
    const [one = '', two = ''] = await start([{ size: 1 }, { size: 2, fails: true }]);
    await createBatchExperiment(server, 'app', buildBatch());
    const ended = await waitForBatchEnd(server, 'app', 'x');
    expect(ended).toMatchObject({
      status: 'completed',
      number_of_completed_runs: 4,
      number_of_failed_runs: 2,
    });
    expect(ended.grouped_distributional_summaries[0]).toMatchObject({
      group_values: ['plain', 'v1'],
      runs: { total: 2, succeeded: 1, failed: 1, canceled: 0, pending: 0 },
    });
    expect(ended.comparisons[0]?.indicators[0]).toMatchObject({
      inputs: { total: 2, usable: 1, losses: 1 },
      mean_difference: { value: 1 },
    });
    const groups = ended.grouped_distributional_summaries.slice(2);
    expect(groups.map((summary) => [summary.group_values[0], summary.runs.failed])).toEqual([
      [one, 0],
      [two, 1],
      [one, 0],
      [two, 1],
    ]);
  });

  test('fail the experiment when no run succeeds', async () => {
    await start([{ size: 1, fails: true }]);
    await createBatchExperiment(server, 'app', buildBatch());
    const ended = await waitForBatchEnd(server, 'app', 'x');
    expect(ended).toMatchObject({ status: 'failed', number_of_failed_runs: 2, number_of_completed_runs: 2 });
    expect(ended.comparisons).toEqual([expect.objectContaining({ indicators: [] })]);
    const request = { input: { size: 1 }, batch_experiment_id: 'x' };
    const response = await server.request('POST', '/v1/applications/app/runs?instance_id=plain', {
      body: request,
    });
    expectError(response, 400, 'batch_experiment_id is "x", which is failed');
  });

  test('fail once each, with the reason, when their instance is deleted', async () => {
    await start();
    await createBatchExperiment(server, 'app', buildBatch({ repetitions: 100 }));
    expectStatus(await server.request('DELETE', '/v1/applications/app/instances/double'), 204);
    await server.waitUntil('runs-ended', async () => (await fetchMetadata()).number_of_completed_runs >= 1);
    const queued = (await listRuns()).filter((run) => run.status_v2 === 'queued');
    const cancel = (id: string) => server.request('PATCH', `/v1/applications/app/runs/${id}/cancel`);
    for (const response of await Promise.all(queued.map((run) => cancel(run.id))))
      expectStatus(response, 204);
    const ended = await waitForBatchEnd(server, 'app', 'x');
    const { number_of_runs, number_of_requested_runs, number_of_failed_runs, refused_runs } = ended;
    expect(number_of_requested_runs).toBe(400);
    expect(ended.number_of_completed_runs).toBe(number_of_runs);
    expect(number_of_failed_runs).toBe(400 - number_of_runs);
    const [plain, double] = ended.grouped_distributional_summaries;
    expect((plain?.runs.total ?? 0) + (double?.runs.total ?? 0)).toBe(400);
    expect(double?.runs.failed).toBe(number_of_failed_runs);
    expect(refused_runs.length).toBeGreaterThan(0);
    const refusal = { instance_id: 'double', error: expect.stringContaining('There is no instance') };
    for (const refused of refused_runs) expect(refused).toMatchObject(refusal);
  });
});

describe('indicators', () => {
  test('that are missing, not numeric or not finite exclude their pair and are counted', async () => {
    await start([
      { size: 1 },
      { size: 2, report: { value: 'nan' } },
      { size: 3, report: { value: '+inf', custom: { a: true, b: 'text' } } },
      { size: 4, report: {} },
      { size: 5, report: { value: 1e308 } },
    ]);
    await createBatchExperiment(server, 'app', buildBatch());
    const ended = await waitForBatchEnd(server, 'app', 'x');
    expect(ended.status).toBe('completed');
    const [plain] = ended.grouped_distributional_summaries;
    expect(plain?.indicator_counts['result.value']).toEqual({ usable: 2, unusable: 2, missing: 1 });
    expect(plain?.indicator_keys).toEqual(['result.custom.twice', 'result.value']);
    const [value] = ended.comparisons[0]?.indicators ?? [];
    expect(value).toMatchObject({
      indicator: 'result.value',
      inputs: { total: 5, usable: 2 },
      control: { missing: 3 },
      candidate: { missing: 3 },
    });
    expect(JSON.stringify(ended)).not.toMatch(/NaN|Infinity/);
  });

  test('have the verdict worse for doubled values and same for equal values', async () => {
    const inputs = Array.from({ length: 12 }, (_, index) => ({ size: index + 1 }));
    await start(inputs, { plain: {}, double: { factor: '2' }, same: {} });
    await createBatchExperiment(server, 'app', {
      id: 'x',
      input_set_id: 'sizes',
      instance_ids: ['plain', 'double', 'same'],
      objectives: { 'result.value': 'minimize', 'result.custom.twice': 'maximize' },
    });
    const { comparisons } = await waitForBatchEnd(server, 'app', 'x');
    const verdicts = comparisons.map(({ candidate, indicators }) => [
      candidate.instance_id,
      ...indicators.map((indicator) => `${indicator.indicator} ${indicator.verdict}`),
    ]);
    expect(verdicts).toEqual([
      ['double', 'result.value worse', 'result.custom.twice better'],
      ['same', 'result.value same', 'result.custom.twice same'],
    ]);
    expect(comparisons[0]?.indicators[0]).toMatchObject({
      mean_difference: { value: 6.5 },
      ratio: { value: 2 },
      inputs: { total: 12, usable: 12, wins: 0, ties: 0, losses: 12 },
    });
  });
});

test('three concurrent experiments count only their own runs', async () => {
  await start();
  const created = ['one', 'two', 'three'].map((id, index) =>
    createBatchExperiment(server, 'app', buildBatch({ id, repetitions: 2 * (index + 1) })),
  );
  await Promise.all(created);
  const ended = await Promise.all(['one', 'two', 'three'].map((id) => waitForBatchEnd(server, 'app', id)));
  expect(
    ended.map(({ status, number_of_runs, number_of_completed_runs }) => [
      status,
      number_of_runs,
      number_of_completed_runs,
    ]),
  ).toEqual([
    ['completed', 8, 8],
    ['completed', 16, 16],
    ['completed', 24, 24],
  ]);
});

test('a running experiment returns the results so far, unchanged until another run ends', async () => {
  const [input] = await start();
  await createBatchExperiment(server, 'app', {
    id: 'x',
    input_set_id: 'sizes',
    option_sets: { slow: { waits: 'true' } },
    // The waiting run occupies one of the two slots; the other runs end in the second.
    runs: [{ instance_id: 'plain' }, { instance_id: 'double', option_set: 'slow', input_id: input }],
  });
  await server.waitUntil('runs-ended', async () => (await fetchMetadata()).number_of_completed_runs === 2);
  await server.waitUntil('log-lines', async () =>
    (await listRuns()).every((run) => run.status_v2 !== 'queued'),
  );
  const get = async () =>
    (await server.request('GET', batchExperimentPath('app', '/x'))).body as BatchExperiment;
  const [first, second] = [await get(), await get()];
  expect(second).toEqual(first);
  expect(first).toMatchObject({ status: 'started', number_of_runs: 3, number_of_completed_runs: 2 });
  const [plain, double] = first.grouped_distributional_summaries;
  expect(plain).toMatchObject({ runs: { total: 2, succeeded: 2, pending: 0 } });
  expect(plain?.indicator_distributions['result.value']).toMatchObject({ count: 2, mean: 1.5 });
  expect(double).toMatchObject({ runs: { total: 1, succeeded: 0, pending: 1 }, indicator_keys: [] });
});

test('a scenario test as clients build it: two scenarios on three and two inputs, three repetitions each', async () => {
  const [a = '', b = '', c = ''] = await start([{ size: 1 }, { size: 2 }, { size: 3 }]);
  const params = { application_id: 'app' };
  await server.client.call('createInputSet', { params, body: { id: 'less', name: 'Less', run_ids: [a, b] } });
  const scenario = (scenario_id: string, input_set_id: string, inputs: string[], instance_id: string) =>
    inputs.flatMap((input_id) =>
      [0, 1, 2].map((repetition) => ({
        input_id,
        input_set_id,
        instance_id,
        option_set: `${scenario_id}_0`,
        scenario_id,
        repetition,
      })),
    );
  const runs = [
    ...scenario('scenario-1', 'sizes', [a, b, c], 'plain'),
    ...scenario('scenario-2', 'less', [a, b], 'double'),
  ];
  const created = await createBatchExperiment(server, 'app', {
    id: 'scenarios',
    type: 'scenario',
    option_sets: { 'scenario-1_0': {}, 'scenario-2_0': { shift: '1' } },
    runs,
  });
  expect(created).toMatchObject({
    type: 'scenario',
    input_set_id: '',
    instance_ids: [],
    number_of_requested_runs: 15,
  });
  const ended = await waitForBatchEnd(server, 'app', 'scenarios');
  expect(ended).toMatchObject({ status: 'completed', number_of_runs: 15 });
  const compareAsJson = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  const labels = ended.runs.map(
    ({ input_id, input_set_id, instance_id, option_set, scenario_id, repetition }) => ({
      input_id,
      input_set_id,
      instance_id,
      option_set,
      scenario_id,
      repetition,
    }),
  );
  expect(labels.sort(compareAsJson)).toEqual(runs.sort(compareAsJson));
  const groupings = new Set(
    ended.grouped_distributional_summaries.map(({ group_keys }) => group_keys.join()),
  );
  expect([...groupings].filter((keys) => !keys.includes('input'))).toEqual([
    'instanceID,versionID',
    'instanceID,versionID,optionSetID',
    'instanceID,versionID,scenarioID',
    'instanceID,versionID,optionSetID,scenarioID',
  ]);
  // On the two inputs that both ran, 2 × 1 + 1 compares with 1, and 2 × 2 + 1 with 2.
  const [compared] = ended.comparisons;
  expect(compared).toMatchObject({
    control: { instance_id: 'plain', option_set: 'scenario-1_0', scenario_id: 'scenario-1' },
    candidate: { instance_id: 'double', option_set: 'scenario-2_0', scenario_id: 'scenario-2' },
  });
  expect(compared?.indicators[0]).toMatchObject({
    inputs: { total: 3, usable: 2 },
    pairs: { usable: 6 },
    mean_difference: { value: 2.5 },
  });
  const listed = await server.request('GET', batchExperimentPath('app', '?type=scenario'));
  expect((listed.body as BatchExperimentInfo[]).map(({ id }) => id)).toEqual(['scenarios']);
  expect((await listRuns('scenarios'))[0]).toMatchObject({ experiment_type: 'scenario' });
});
