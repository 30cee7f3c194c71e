/** Ensembles as sides of batch experiments: results, failures, cost, validation, cancel and deletion. */
import type { ExperimentRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { createArithmeticEnsemble } from '../../testing/fixtures/batch-ensembles.ts';
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

const params = { application_id: 'app' };
const SIZES = Array.from({ length: 12 }, (_, index) => ({ size: index + 1 }));
const MEAN_SIZE = 6.5;

async function start(inputs: readonly object[] = SIZES): Promise<void> {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '2' } });
  await createExperimentApplication(server, 'app', { plain: {}, other: {} }, inputs);
}
const listRuns = async (id: string): Promise<ExperimentRun[]> => {
  const response = await server.request('GET', batchExperimentPath('app', `/${id}/runs`));
  expectStatus(response, 200);
  return (response.body as { runs: ExperimentRun[] }).runs;
};
const fetchEnsembleRun = async (run_id: RunId) =>
  (await server.client.call('getRunEnsemble', { params: { ...params, run_id } })).body;
const postBatch = (body: object) =>
  server.request('POST', batchExperimentPath('app'), {
    body: { id: 'refused', name: 'Any name', input_set_id: 'sizes', ...body },
  });
const waitForRunningChild = (id: string) =>
  server.waitUntil('log-lines', async () => {
    for (const run of await listRuns(id)) {
      const { child_runs } = await fetchEnsembleRun(run.id);
      if (child_runs.some(({ status_v2 }) => status_v2 === 'running')) return run;
    }
    return null;
  });

test('an ensemble is compared by the results of its best runs, and a failed ensemble is a failure', async () => {
  await start();
  await createArithmeticEnsemble(server, 'pair', { low: { factor: '0.9' }, high: { factor: '1.2' } });
  // A child run that fails is no failure of the ensemble.
  await createArithmeticEnsemble(server, 'half', { low: { factor: '0.8' }, fails: { fails: 'true' } });
  await createArithmeticEnsemble(server, 'none', { a: { fails: 'true' }, b: { fails: 'true' } });
  const created = await createBatchExperiment(server, 'app', {
    input_set_id: 'sizes',
    runs: [
      { instance_id: 'plain' },
      { ensemble_id: 'pair' },
      { ensemble_id: 'half' },
      { ensemble_id: 'none' },
    ],
    objectives: { 'result.value': 'minimize' },
  });
  expect(created).toMatchObject({ number_of_requested_runs: 48, number_of_runs: 48 });
  const ended = await waitForBatchEnd(server, 'app', created.id);
  expect(ended).toMatchObject({
    status: 'completed',
    number_of_runs: 48,
    number_of_completed_runs: 48,
    number_of_failed_runs: 12,
  });
  const side = (ensemble_id: string) => ({ instance_id: '', version_id: '', ensemble_id });
  expect(ended.comparisons.map(({ control, candidate }) => [control, candidate])).toEqual(
    ['pair', 'half', 'none'].map((id) => [{ instance_id: 'plain', version_id: 'v1' }, side(id)]),
  );
  const compared = ended.comparisons.map(({ indicators }) => indicators[0]);
  expect(compared).toMatchObject([
    { indicator: 'result.value', verdict: 'better', inputs: { wins: 12 } },
    { indicator: 'result.value', verdict: 'better', inputs: { wins: 12 } },
    { indicator: 'result.value', verdict: 'worse', inputs: { losses: 12 } },
  ]);
  expect(compared[0]?.geometric_mean_ratio?.value).toBeCloseTo(0.9, 9);
  expect(compared[1]?.geometric_mean_ratio?.value).toBeCloseTo(0.8, 9);
  expect(ended.failures).toMatchObject([{ instance_id: '', ensemble_id: 'none', number_of_runs: 12 }]);
  const [first] = ended.grouped_distributional_summaries;
  expect(first?.group_keys).toEqual(['instanceID', 'versionID', 'ensembleID']);
  expect(ended.profiles?.[0]?.groups.map(({ ensemble_id }) => ensemble_id)).toEqual([
    undefined,
    'pair',
    'half',
    'none',
  ]);

  // One run of the pair has 1.05 times the size on average, the best of both 0.9 times.
  const [pair, half, ...others] = ended.ensembles ?? [];
  expect(others).toEqual([]);
  expect(pair).toMatchObject({
    ...side('pair'),
    statistics_path: 'result.value',
    objective: 'minimize',
    inputs: 12,
    best_of_k: [
      { k: 1, expected: expect.closeTo(1.05 * MEAN_SIZE, 9), ratio_to_one: 1, solved_share: 1 },
      {
        k: 2,
        expected: expect.closeTo(0.9 * MEAN_SIZE, 9),
        ratio_to_one: expect.closeTo(0.9 / 1.05, 9),
        solved_share: 1,
      },
    ],
  });
  expect(half?.best_of_k.map(({ solved_share }) => solved_share)).toEqual([0.5, 1]);

  await expectCost(created.id, ended);
});

/** Expects `run.total_duration` to be the sum over the child runs, as the API reports them one by one. */
async function expectCost(id: string, { comparisons }: Awaited<ReturnType<typeof waitForBatchEnd>>) {
  const runs = (await listRuns(id)).filter(({ run_type }) => run_type.definition_id === 'pair');
  expect(runs).toHaveLength(12);
  let seconds = 0;
  for (const run of runs) {
    expect(run).toMatchObject({ instance_id: '', run_type: { type: 'ensemble' } });
    expect(run.start_conditions).not.toBeNull();
    const { child_runs, rules_result } = await fetchEnsembleRun(run.id);
    const children = await Promise.all(
      child_runs.map((child) => server.client.call('getRun', { params: { ...params, run_id: child.id } })),
    );
    const total = children.reduce((sum, { body }) => sum + body.metadata.execution_duration, 0) / 1000;
    // Each duration is rounded to a millisecond.
    expect(Math.abs((rules_result?.usage?.total_seconds ?? 0) - total)).toBeLessThan(0.003);
    expect(rules_result?.usage?.wall_seconds).toBeGreaterThan(0);
    seconds += total;
  }
  const cost = comparisons[0]?.indicators.find(({ indicator }) => indicator === 'run.total_duration');
  expect(cost?.inputs).toMatchObject({ total: 12, usable: 12 });
  expect(Math.abs((cost?.candidate.mean ?? 0) - seconds / 12)).toBeLessThan(0.003);
}

test('the child runs of an ensemble are queued beside the other side of their block', async () => {
  await start();
  await createArithmeticEnsemble(server, 'pair', { low: {}, high: {} });
  const { id } = await createBatchExperiment(server, 'app', {
    input_set_id: 'sizes',
    runs: [{ instance_id: 'plain' }, { ensemble_id: 'pair' }],
  });
  await waitForBatchEnd(server, 'app', id);
  const runs = await server.runningServer.database.read
    .selectFrom('runs')
    .select(['id', 'run_type', 'parent_run_id', 'input_id', 'created_at'])
    .where((eb) => eb.or([eb('experiment_id', '=', id), eb('parent_run_id', 'is not', null)]))
    .execute();
  const queued = runs
    .filter(({ run_type }) => run_type === 'standard')
    .sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
  expect(queued).toHaveLength(36);
  // Two child runs and one run of the instance for each input, without those of another input in between.
  const inputs = queued
    .map(({ input_id }) => input_id)
    .filter((input, index, all) => input !== all[index - 1]);
  expect(inputs).toHaveLength(12);
});

test('a scenario test compares option sets on an ensemble, whose groups get the options', async () => {
  await start(SIZES.slice(0, 2));
  await createArithmeticEnsemble(server, 'pair', { low: { shift: '-1' }, high: {} });
  const { id } = await createBatchExperiment(server, 'app', {
    type: 'scenario',
    input_set_id: 'sizes',
    option_sets: { single: {}, triple: { factor: '3', shift: '5' } },
    runs: ['single', 'triple'].map((key) => ({ ensemble_id: 'pair', option_set: key, scenario_id: key })),
  });
  const { comparisons } = await waitForBatchEnd(server, 'app', id);
  // The option of a run group takes precedence: the best of both groups has the shift -1.
  expect(comparisons).toMatchObject([
    {
      control: { ensemble_id: 'pair', option_set: 'single' },
      candidate: { ensemble_id: 'pair', option_set: 'triple', scenario_id: 'triple' },
      indicators: [{ indicator: 'result.value', control: { mean: 0.5 }, candidate: { mean: 3.5 } }, {}, {}],
    },
  ]);
});

describe('a batch is a 400 for', () => {
  test('an ensemble that is unknown, beside an instance or version, or too large', async () => {
    await start();
    await createArithmeticEnsemble(server, 'pair', { low: {}, high: {} });
    const cases: [object, string][] = [
      [{ ensemble_id: 'nowhere' }, 'runs.0.ensemble_id is "nowhere"'],
      [{ ensemble_id: 'pair', instance_id: 'plain' }, 'runs.0.instance_id is "plain"'],
      [{ ensemble_id: 'pair', version_id: 'v1' }, 'runs.0.version_id is "v1"'],
      [{ ensemble_id: '' }, 'runs.0 has neither'],
    ];
    for (const [run, message] of cases) expectError(await postBatch({ runs: [run] }), 400, message);
    // 12 inputs, 420 repetitions and two child runs are 10,080 runs.
    const runs = Array.from({ length: 420 }, (_, repetition) => ({ ensemble_id: 'pair', repetition }));
    expectError(await postBatch({ runs }), 400, 'runs expands to 10080 runs');
    expect(await countRowsByTable(server)).toMatchObject({ experiments: 0, planned_ensembles: 0 });
  });

  test('an ensemble whose run group cannot run', async () => {
    await start();
    await createArithmeticEnsemble(server, 'pair', { low: {} }, 'other');
    await server.client.call('deleteInstance', { params: { ...params, instance_id: 'other' } });
    expectError(
      await postBatch({ runs: [{ instance_id: 'plain' }, { ensemble_id: 'pair' }] }),
      400,
      'The run group "low" of the ensemble "pair" cannot run.',
    );
  });
});

describe('a batch with a running ensemble', () => {
  const createWaitingBatch = async () => {
    await createArithmeticEnsemble(server, 'pair', { low: { waits: 'true' }, high: { waits: 'true' } });
    const { id } = await createBatchExperiment(server, 'app', {
      input_set_id: 'sizes',
      runs: [{ ensemble_id: 'pair' }],
    });
    return id;
  };

  test('is deleted with the child runs, and leaves no row and no blob', async () => {
    await start(SIZES.slice(0, 2));
    const blobs = listBlobs(server).length;
    const { runs } = await countRowsByTable(server);
    const id = await createWaitingBatch();
    await waitForRunningChild(id);
    expectStatus(await server.request('DELETE', batchExperimentPath('app', `/${id}`)), 204);
    await expect
      .poll(() => countRowsByTable(server))
      .toMatchObject({ experiments: 0, experiment_inputs: 0, planned_ensembles: 0, planned_runs: 0, runs });
    expect(listBlobs(server).length).toBe(blobs);
  });

  test('keeps its version, counts a canceled ensemble run as none, and ends', async () => {
    await start(SIZES.slice(0, 2));
    const id = await createWaitingBatch();
    const run = await waitForRunningChild(id);
    expectError(
      await server.request('DELETE', '/v1/applications/app/versions/v1'),
      400,
      'takes part in the batch experiment',
    );
    const others = (await listRuns(id)).filter((one) => one.id !== run.id);
    for (const { id: run_id } of [run, ...others])
      await server.client.call('cancelRun', { params: { ...params, run_id } });
    expect(await waitForBatchEnd(server, 'app', id)).toMatchObject({
      status: 'failed',
      number_of_completed_runs: 2,
      number_of_failed_runs: 0,
      grouped_distributional_summaries: [{ runs: { canceled: 2 } }, {}, {}],
    });
    expect(await countRowsByTable(server)).toMatchObject({ planned_ensembles: 0 });
  });
});
