/** What happens to batch experiments on their way: stops of the server, deletions, runs that fail or report nothing. */
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
const body = (more: object = {}) => ({
  id: 'x',
  input_set_id: 'sizes',
  instance_ids: ['plain', 'double'],
  ...more,
});
const metadata = async (id = 'x'): Promise<BatchExperimentInfo> => {
  const answer = await server.request('GET', batchExperimentPath('app', `/${id}/metadata`));
  expectStatus(answer, 200);
  return answer.body as BatchExperimentInfo;
};
const runsOf = async (id = 'x'): Promise<ExperimentRun[]> => {
  const answer = await server.request('GET', batchExperimentPath('app', `/${id}/runs`));
  expectStatus(answer, 200);
  return (answer.body as { runs: ExperimentRun[] }).runs;
};
const nothingLeft = () =>
  expect
    .poll(
      async () => {
        const { experiments, experiment_inputs, experiment_results, planned_runs } =
          await countRowsByTable(server);
        return { experiments, experiment_inputs, experiment_results, planned_runs };
      },
      { timeout: 20_000 },
    )
    .toEqual({
      experiments: 0,
      experiment_inputs: 0,
      experiment_results: 0,
      planned_runs: 0,
    });

describe('a server that stops in the middle', () => {
  test('ends every run once and the experiment with exact numbers, however often', async () => {
    await start();
    await createBatchExperiment(server, 'app', body({ repetitions: 10 }));
    for (const least of [1, 15, 25]) {
      await server.waitUntil('runs-ended', async () => (await metadata()).number_of_completed_runs >= least);
      await server.restart();
    }
    const over = await waitForBatchEnd(server, 'app', 'x');
    expect(over).toMatchObject({
      status: 'completed',
      number_of_requested_runs: 40,
      number_of_runs: 40,
      number_of_completed_runs: 40,
      number_of_failed_runs: 0,
    });
    const runs = await runsOf();
    const places = runs.map((run) =>
      JSON.stringify([run.application_instance_id, run.input_id, run.repetition]),
    );
    expect(new Set(places).size).toBe(40);
    const [plain, double] = over.grouped_distributional_summaries;
    // Inputs of sizes 1 and 2, ten times each.
    expect(plain?.indicator_distributions['result.value']).toMatchObject({ count: 20, mean: 1.5 });
    expect(double?.indicator_distributions['result.value']).toMatchObject({ count: 20, mean: 3 });
  }, 60_000);
});

describe('DELETE', () => {
  test('while runs are running, waiting and planned takes all of them, and the id can be taken at once', async () => {
    await start();
    const before = listBlobs(server).length;
    const { runs: others } = await countRowsByTable(server);
    await createBatchExperiment(
      server,
      'app',
      body({ repetitions: 50, option_sets: { slow: { waits: 'true' } } }),
    );
    await server.waitUntil('log-lines', async () =>
      (await runsOf()).some((run) => run.status_v2 === 'running'),
    );
    expectStatus(await server.request('DELETE', batchExperimentPath('app', '/x')), 204);
    expectError(await server.request('GET', batchExperimentPath('app', '/x')), 404);
    expectError(await server.request('DELETE', batchExperimentPath('app', '/x')), 404);
    expectStatus(await server.request('GET', batchExperimentPath('app')), 200);
    await createBatchExperiment(server, 'app', body({ id: 'x' }));
    expect(await waitForBatchEnd(server, 'app', 'x')).toMatchObject({
      status: 'completed',
      number_of_runs: 4,
    });
    expectStatus(await server.request('DELETE', batchExperimentPath('app', '/x')), 204);
    await nothingLeft();
    await expect.poll(async () => (await countRowsByTable(server)).runs).toBe(others);
    expect(listBlobs(server).length).toBe(before);
    // The slots are free for others.
    expect((await createRunAndWait(server, 'app', { instance: 'plain', input: { size: 1 } })).status_v2).toBe(
      'succeeded',
    );
  }, 60_000);

  test('goes on after a restart', async () => {
    await start();
    await createBatchExperiment(
      server,
      'app',
      body({ repetitions: 100, option_sets: { slow: { waits: 'true' } } }),
    );
    await server.waitUntil('log-lines', async () =>
      (await runsOf()).some((run) => run.status_v2 === 'running'),
    );
    expectStatus(await server.request('DELETE', batchExperimentPath('app', '/x')), 204);
    await server.restart();
    await nothingLeft();
  }, 60_000);

  test('of the input set, or of a managed input, leaves the experiment whole', async () => {
    await start();
    await createBatchExperiment(server, 'app', body({ repetitions: 5 }));
    expectStatus(await server.request('DELETE', '/v1/applications/app/experiments/inputsets/sizes'), 204);
    const over = await waitForBatchEnd(server, 'app', 'x');
    expect(over).toMatchObject({ status: 'completed', input_set_id: 'sizes', number_of_failed_runs: 0 });
    expect(over.number_of_completed_runs).toBe(20);
  }, 60_000);

  test('of one of its runs ends what waits for it alone, and counts it no longer', async () => {
    await start();
    await createBatchExperiment(server, 'app', {
      id: 'x',
      input_set_id: 'sizes',
      option_sets: { slow: { waits: 'true' } },
      runs: [{ instance_id: 'plain', option_set: 'slow' }, { instance_id: 'double' }],
    });
    const waiting = await server.waitUntil('runs-queued', async () => {
      const left = (await runsOf()).filter((run) => run.option_set === 'slow');
      return left.length === 2 && left;
    });
    for (const run of waiting)
      expectStatus(await server.request('DELETE', `/v1/applications/app/runs/${run.id}`), 204);
    expect(await waitForBatchEnd(server, 'app', 'x')).toMatchObject({
      status: 'completed',
      number_of_requested_runs: 4,
      number_of_runs: 2,
      number_of_completed_runs: 2,
    });
  }, 60_000);
});

describe('runs that do not succeed', () => {
  test('are counted, and give no numbers', async () => {
    const [one = '', two = ''] = await start([{ size: 1 }, { size: 2, fails: true }]);
    await createBatchExperiment(server, 'app', body());
    const over = await waitForBatchEnd(server, 'app', 'x');
    expect(over).toMatchObject({
      status: 'completed',
      number_of_completed_runs: 4,
      number_of_failed_runs: 2,
    });
    expect(over.grouped_distributional_summaries[0]).toMatchObject({
      group_values: ['plain', 'v1'],
      runs: { total: 2, succeeded: 1, failed: 1, canceled: 0, pending: 0 },
    });
    expect(over.comparisons[0]?.indicators[0]).toMatchObject({
      inputs: { total: 2, usable: 1, losses: 1 },
      mean_difference: { value: 1 },
    });
    const groups = over.grouped_distributional_summaries.slice(2);
    expect(groups.map((one) => [one.group_values[0], one.runs.failed])).toEqual([
      [one, 0],
      [two, 1],
      [one, 0],
      [two, 1],
    ]);
  });

  test('all of them: the experiment failed', async () => {
    await start([{ size: 1, fails: true }]);
    await createBatchExperiment(server, 'app', body());
    const over = await waitForBatchEnd(server, 'app', 'x');
    expect(over).toMatchObject({ status: 'failed', number_of_failed_runs: 2, number_of_completed_runs: 2 });
    expect(over.comparisons).toEqual([expect.objectContaining({ indicators: [] })]);
    const body400 = { input: { size: 1 }, batch_experiment_id: 'x' };
    const answer = await server.request('POST', '/v1/applications/app/runs?instance_id=plain', {
      body: body400,
    });
    expectError(answer, 400, 'batch_experiment_id is "x", which is failed');
  });

  test('of an instance that is deleted in the middle fail with the reason, each once', async () => {
    await start();
    await createBatchExperiment(server, 'app', body({ repetitions: 100 }));
    await server.waitUntil('runs-ended', async () => (await metadata()).number_of_completed_runs >= 1);
    expectStatus(await server.request('DELETE', '/v1/applications/app/instances/double'), 204);
    const queued = (await runsOf()).filter((run) => run.status_v2 === 'queued');
    const cancel = (id: string) => server.request('PATCH', `/v1/applications/app/runs/${id}/cancel`);
    for (const answer of await Promise.all(queued.map((run) => cancel(run.id)))) expectStatus(answer, 204);
    const over = await waitForBatchEnd(server, 'app', 'x');
    const { number_of_runs, number_of_requested_runs, number_of_failed_runs, refused_runs } = over;
    expect(number_of_requested_runs).toBe(400);
    expect(over.number_of_completed_runs).toBe(number_of_runs);
    expect(number_of_failed_runs).toBe(400 - number_of_runs);
    const [plain, double] = over.grouped_distributional_summaries;
    expect((plain?.runs.total ?? 0) + (double?.runs.total ?? 0)).toBe(400);
    expect(double?.runs.failed).toBe(number_of_failed_runs);
    for (const refused of refused_runs)
      expect(refused).toMatchObject({
        instance_id: 'double',
        error: expect.stringContaining('There is no instance'),
      });
  }, 120_000);
});

describe('indicators', () => {
  test('that are missing, no numbers, or not finite, leave the pair out and are counted', async () => {
    await start([
      { size: 1 },
      { size: 2, report: { value: 'nan' } },
      { size: 3, report: { value: '+inf', custom: { a: true, b: 'text' } } },
      { size: 4, report: {} },
      { size: 5, report: { value: 1e308 } },
    ]);
    await createBatchExperiment(server, 'app', body());
    const over = await waitForBatchEnd(server, 'app', 'x');
    expect(over.status).toBe('completed');
    const [plain] = over.grouped_distributional_summaries;
    expect(plain?.indicator_counts['result.value']).toEqual({ usable: 2, unusable: 2, missing: 1 });
    expect(plain?.indicator_keys).toEqual(['result.custom.twice', 'result.value']);
    const [value] = over.comparisons[0]?.indicators ?? [];
    expect(value).toMatchObject({
      indicator: 'result.value',
      inputs: { total: 5, usable: 2 },
      control: { missing: 3 },
      candidate: { missing: 3 },
    });
    expect(JSON.stringify(over)).not.toMatch(/NaN|Infinity/);
  });

  test('decide where there is enough: a candidate that is twice as much is worse, and one that is the same equivalent', async () => {
    const inputs = Array.from({ length: 12 }, (_, index) => ({ size: index + 1 }));
    await start(inputs, { plain: {}, double: { factor: '2' }, same: {} });
    await createBatchExperiment(server, 'app', {
      id: 'x',
      input_set_id: 'sizes',
      instance_ids: ['plain', 'double', 'same'],
      objectives: { 'result.custom.twice': 'maximize' },
    });
    const { comparisons } = await waitForBatchEnd(server, 'app', 'x');
    const verdicts = comparisons.map((one) => [
      one.candidate.instance_id,
      ...one.indicators.map((indicator) => `${indicator.indicator} ${indicator.verdict}`),
    ]);
    expect(verdicts).toEqual([
      ['double', 'result.value worse', 'result.custom.twice better'],
      ['same', 'result.value equivalent', 'result.custom.twice equivalent'],
    ]);
    expect(comparisons[0]?.indicators[0]).toMatchObject({
      mean_difference: { value: 6.5 },
      ratio: { value: 2 },
      inputs: { total: 12, usable: 12, wins: 0, ties: 0, losses: 12 },
    });
  }, 60_000);
});

test('three experiments at once count their own', async () => {
  await start();
  const made = ['one', 'two', 'three'].map((id, index) =>
    createBatchExperiment(server, 'app', body({ id, repetitions: 2 * (index + 1) })),
  );
  await Promise.all(made);
  const over = await Promise.all(['one', 'two', 'three'].map((id) => waitForBatchEnd(server, 'app', id)));
  expect(over.map((one) => [one.status, one.number_of_runs, one.number_of_completed_runs])).toEqual([
    ['completed', 8, 8],
    ['completed', 16, 16],
    ['completed', 24, 24],
  ]);
}, 60_000);

test('what has ended so far is answered while it goes on, and stays the same while nothing ends', async () => {
  const [input] = await start();
  await createBatchExperiment(server, 'app', {
    id: 'x',
    input_set_id: 'sizes',
    option_sets: { slow: { waits: 'true' } },
    // One of the two slots stays free.
    runs: [{ instance_id: 'plain' }, { instance_id: 'double', option_set: 'slow', input_id: input }],
  });
  await server.waitUntil('runs-ended', async () => (await metadata()).number_of_completed_runs === 2);
  await server.waitUntil('log-lines', async () =>
    (await runsOf()).every((run) => run.status_v2 !== 'queued'),
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

test('a scenario test as clients build it: two scenarios, three and two inputs, two repetitions more', async () => {
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
  const made = await createBatchExperiment(server, 'app', {
    id: 'scenarios',
    type: 'scenario',
    option_sets: { 'scenario-1_0': {}, 'scenario-2_0': { shift: '1' } },
    runs,
  });
  expect(made).toMatchObject({
    type: 'scenario',
    input_set_id: '',
    instance_ids: [],
    number_of_requested_runs: 15,
  });
  const over = await waitForBatchEnd(server, 'app', 'scenarios');
  expect(over).toMatchObject({ status: 'completed', number_of_runs: 15 });
  const byText = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  const found = over.runs.map(
    ({ input_id, input_set_id, instance_id, option_set, scenario_id, repetition }) => ({
      input_id,
      input_set_id,
      instance_id,
      option_set,
      scenario_id,
      repetition,
    }),
  );
  expect(found.sort(byText)).toEqual(runs.sort(byText));
  const groupings = new Set(over.grouped_distributional_summaries.map((one) => one.group_keys.join()));
  expect([...groupings].filter((keys) => !keys.includes('input'))).toEqual([
    'instanceID,versionID',
    'instanceID,versionID,optionSetID',
    'instanceID,versionID,scenarioID',
    'instanceID,versionID,optionSetID,scenarioID',
  ]);
  // 2 × 1 + 1 against 1, and 2 × 2 + 1 against 2: the inputs that both ran.
  const [compared] = over.comparisons;
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
  expect((listed.body as BatchExperimentInfo[]).map((one) => one.id)).toEqual(['scenarios']);
  expect((await runsOf('scenarios'))[0]).toMatchObject({ experiment_type: 'scenario' });
});
