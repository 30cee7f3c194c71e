/** Batch experiments from the request to the results. Invalid requests are in batch-validation.test.ts, lists in batch-lists.test.ts. */
import type { Requirements } from '@switchyard/contract/applications/executables.ts';
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
import type { ExperimentRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { pushApp } from '../../testing/fixtures/apps.ts';
import {
  ARITHMETIC_APP,
  ARITHMETIC_APP_TYPE,
  batchExperimentPath,
  createBatchExperiment,
  createExperimentApplication,
  waitForBatchEnd,
} from '../../testing/fixtures/batch-experiments.ts';
import { expectError, expectStatus, listAllPages, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
let server: TestServer;
/** Ids of the inputs, of sizes 1, 2 and 3. */
let inputs: string[];
beforeAll(async () => {
  server = await startTestServer();
  inputs = await createExperimentApplication(server, 'app', { plain: {}, double: { factor: '2' } });
});
afterAll(() => server.close());

const get = async (path: string): Promise<unknown> => {
  const answer = await server.request('GET', batchExperimentPath('app', path));
  expectStatus(answer, 200);
  return answer.body;
};

describe('a batch experiment', () => {
  let over: BatchExperiment;
  beforeAll(async () => {
    const made = await createBatchExperiment(server, 'app', {
      id: 'first',
      name: 'The first',
      description: 'Twice as much against as much as there is.',
      input_set_id: 'sizes',
      instance_ids: ['plain', 'double'],
      repetitions: 2,
      objectives: { 'result.custom.twice': 'maximize' },
    });
    expect(made).toEqual({
      id: 'first',
      app_id: 'app',
      name: 'The first',
      description: 'Twice as much against as much as there is.',
      status: 'started',
      type: 'batch',
      input_set_id: 'sizes',
      instance_ids: ['plain', 'double'],
      option_sets: {},
      objectives: { 'result.custom.twice': 'maximize' },
      created_at: expect.stringMatching(INSTANT),
      updated_at: made.created_at,
      number_of_requested_runs: 12,
      number_of_runs: 12,
      number_of_completed_runs: 0,
      number_of_failed_runs: 0,
    });
    over = await waitForBatchEnd(server, 'app', 'first');
  });

  test('runs every input on every instance as often as asked, each once', async () => {
    expect(over).toMatchObject({
      status: 'completed',
      completed_at: expect.stringMatching(INSTANT),
      number_of_requested_runs: 12,
      number_of_runs: 12,
      number_of_completed_runs: 12,
      number_of_failed_runs: 0,
      refused_runs: [],
      warnings: [],
    });
    const { runs } = (await get('/first/runs')) as { runs: ExperimentRun[] };
    const made = runs.map((run) => [run.instance_id, run.input_id, run.repetition]);
    expect(made.sort()).toEqual(
      ['plain', 'double']
        .flatMap((instance) => inputs.flatMap((input) => [0, 1].map((one) => [instance, input, one])))
        .sort(),
    );
    for (const run of runs)
      expect(run).toMatchObject({
        experiment_id: 'first',
        experiment_type: 'batch',
        application_instance_id: run.instance_id,
        application_version_id: 'v1',
        version_id: 'v1',
        status_v2: 'succeeded',
        input_set_id: 'sizes',
        user_email: expect.any(String),
      });
    expect(over.runs).toEqual(runs);
  });

  test('answers distributions by instance, and by input and instance, in the order asked for', () => {
    const groups = over.grouped_distributional_summaries.map((one) => [one.group_keys, one.group_values]);
    const byInstance = ['instanceID', 'versionID'];
    const byInput = ['inputID', 'instanceID', 'versionID'];
    expect(groups).toEqual([
      [byInstance, ['plain', 'v1']],
      [byInstance, ['double', 'v1']],
      ...['plain', 'double'].flatMap((instance) => inputs.map((input) => [byInput, [input, instance, 'v1']])),
    ]);
    // 2, 2, 4, 4, 6, 6: mean 4, and a standard deviation of the square root of 16 / 5.
    const distribution = over.grouped_distributional_summaries[1]?.indicator_distributions['result.value'];
    expect(distribution).toMatchObject({ min: 2, max: 6, count: 6, mean: 4 });
    expect(distribution?.std).toBeCloseTo(Math.sqrt(3.2), 12);
    expect(distribution?.percentiles).toMatchObject({ p50: 4, P50: 4, p01: 2, p99: 6 });
    expect(over.grouped_distributional_summaries[0]?.indicator_keys).toEqual([
      'result.custom.twice',
      'result.value',
    ]);
  });

  test('compares the other instance with the first, by input, the indicators in their order', () => {
    const [compared, ...more] = over.comparisons;
    expect(more).toEqual([]);
    expect(compared).toMatchObject({
      control: { instance_id: 'plain', version_id: 'v1' },
      candidate: { instance_id: 'double', version_id: 'v1' },
    });
    const [value, twice] = compared?.indicators ?? [];
    // Differences by input are 1, 2 and 3; three inputs are too few to decide.
    expect(value).toMatchObject({
      indicator: 'result.value',
      objective: 'minimize',
      verdict: 'undecided',
      inputs: { total: 3, usable: 3, wins: 0, ties: 0, losses: 3 },
      pairs: { total: 6, usable: 6, wins: 0, ties: 0, losses: 6 },
      control: { mean: 2, missing: 0 },
      candidate: { mean: 4, missing: 0 },
      mean_difference: { value: 2, interval: null },
    });
    expect(value?.ratio?.value).toBeCloseTo(2, 12);
    expect(twice).toMatchObject({
      indicator: 'result.custom.twice',
      objective: 'maximize',
      inputs: { wins: 3, losses: 0 },
      mean_difference: { value: 4 },
    });
  });

  test('lists its runs whole, or by pages with items and runs', async () => {
    const whole = (await get('/first/runs')) as { runs: ExperimentRun[] };
    const pages = await listAllPages(server, batchExperimentPath('app', '/first/runs'), 5);
    expect(pages.map((page) => page.length)).toEqual([5, 5, 2]);
    expect(pages.flat()).toEqual(whole.runs.map((run) => run.id));
    const page = (await get('/first/runs?pagereturn=true&limit=2')) as { runs: unknown; items: unknown };
    expect(page.runs).toEqual(page.items);
    expectError(
      await server.request('GET', batchExperimentPath('app', '/first/runs?limit=51')),
      400,
      'limit is 51',
    );
  });

  test('is answered again the same, and its metadata without runs and numbers', async () => {
    expect(await get('/first')).toEqual(over);
    const { runs, refused_runs, failures, grouped_distributional_summaries, comparisons, warnings, ...info } =
      over;
    expect(await get('/first/metadata')).toEqual(info);
  });

  test('lets go of its inputs when it is over', async () => {
    const held = await server.runningServer.database.read
      .selectFrom('experiment_inputs')
      .selectAll()
      .execute();
    expect(held).toEqual([]);
  });

  test('is another account’s by no means', async () => {
    const { token } = await createOtherAccount(server);
    for (const rest of ['', '/first', '/first/runs', '/first/metadata'])
      expectError(await server.request('GET', batchExperimentPath('app', rest), { token }), 404);
    expectError(await server.request('DELETE', batchExperimentPath('app', '/first'), { token }), 404);
    expectError(
      await server.request('POST', batchExperimentPath('app'), {
        token,
        body: { id: 'any', name: 'Any name', input_set_id: 'sizes', instance_ids: ['plain'] },
      }),
      404,
    );
  });
});

test('`default` is the default instance that the application has when the experiment is made', async () => {
  await createExperimentApplication(server, 'defaults', { plain: {}, double: { factor: '2' } }, [
    { size: 1 },
  ]);
  const params = { application_id: 'defaults' };
  await server.client.call('updateApplication', { params, body: { default_instance: 'double' } });
  const body = { input_set_id: 'sizes', instance_ids: ['default', 'latest'] };
  const { id, instance_ids } = await createBatchExperiment(server, 'defaults', body);
  await server.client.call('updateApplication', { params, body: { default_instance: 'plain' } });
  expect(instance_ids).toEqual(['double', 'latest']);
  const { runs } = await waitForBatchEnd(server, 'defaults', id);
  const served = runs.map((run) => [run.instance_id, run.version_id, run.statistics.indicators[0]?.value]);
  expect(served.sort()).toEqual([
    ['double', 'v1', 2],
    ['latest', '', 1],
  ]);
});

describe('option sets', () => {
  test('are given to every instance, win over its options, and may be empty', async () => {
    const { id } = await createBatchExperiment(server, 'app', {
      input_set_id: 'sizes',
      instance_ids: ['double'],
      option_sets: { none_0: {}, 'ten.1': { factor: 10 }, 'shift-2': { shift: '0.5' } },
    });
    const over = await waitForBatchEnd(server, 'app', id);
    expect(over.option_sets).toEqual({ none_0: {}, 'ten.1': { factor: '10' }, 'shift-2': { shift: '0.5' } });
    expect(over.number_of_runs).toBe(9);
    const keys = ['instanceID', 'versionID', 'optionSetID'].join();
    const means = over.grouped_distributional_summaries
      .filter((one) => one.group_keys.join() === keys)
      .map((one) => [one.group_values[2], one.indicator_distributions['result.value']?.mean]);
    expect(means).toEqual([
      ['none_0', 4],
      ['ten.1', 20],
      ['shift-2', 4.5],
    ]);
    expect(over.comparisons.map((one) => [one.control.option_set, one.candidate.option_set])).toEqual([
      ['none_0', 'ten.1'],
      ['none_0', 'shift-2'],
    ]);
    expect(new Set(over.runs.map((run) => run.option_set))).toEqual(new Set(['none_0', 'ten.1', 'shift-2']));
  });

  test('are shown without the options that are hidden from the role, in runs too', async () => {
    const hidden = {
      items: [
        { name: 'factor', option_type: 'float', ui: { hidden_from: ['viewer'] } },
        { name: 'shift', option_type: 'float' },
      ],
    };
    await createExperimentApplication(server, 'hiding', {});
    await pushApp(server, 'hiding', ARITHMETIC_APP, {
      ...ARITHMETIC_APP_TYPE,
      options: hidden,
    } as Partial<Requirements>);
    const made = await createBatchExperiment(server, 'hiding', {
      input_set_id: 'sizes',
      instance_ids: ['latest'],
      option_sets: { all: { factor: '7', shift: '1' } },
    });
    expect(made.option_sets).toEqual({ all: { factor: '7', shift: '1' } });
    await waitForBatchEnd(server, 'hiding', made.id);
    const { token } = await server.createKey('viewer');
    for (const rest of ['', `/${made.id}`, `/${made.id}/metadata`, `/${made.id}/runs`]) {
      const answer = await server.request('GET', batchExperimentPath('hiding', rest), { token });
      expectStatus(answer, 200);
      expect(answer.text).toContain('"shift"');
      expect(answer.text).not.toContain('factor');
    }
  });
});

describe('changes', () => {
  test('PATCH changes name and description and answers what is there then', async () => {
    const id = uniqueId('patched');
    await createBatchExperiment(server, 'app', { id, input_set_id: 'sizes', instance_ids: ['plain'] });
    const body = { name: 'Another name', description: 'Short.', status: 'draft', runs: [] };
    const answer = await server.request('PATCH', batchExperimentPath('app', `/${id}`), { body });
    expectStatus(answer, 200);
    expect(answer.body).toMatchObject({ id, name: 'Another name', description: 'Short.', type: 'batch' });
    const over = await waitForBatchEnd(server, 'app', id);
    expect(over).toMatchObject({ name: 'Another name', description: 'Short.', status: 'completed' });
    expectError(
      await server.request('PATCH', batchExperimentPath('app', '/none'), { body }),
      404,
      'batch experiment "none"',
    );
    for (const [bad, word] of [
      [{ name: 'ab' }, 'name'],
      [{ name: 'x'.repeat(49) }, 'name'],
      [{ name: 'A third name', description: 'x'.repeat(129) }, 'description'],
    ] as const)
      expectError(
        await server.request('PATCH', batchExperimentPath('app', `/${id}`), { body: bad }),
        400,
        word,
      );
    expect(await get(`/${id}`)).toEqual(over);
  });

  test('the same Idempotency-Key makes one experiment', async () => {
    const body = { id: 'once', name: 'Any name', input_set_id: 'sizes', instance_ids: ['plain'] };
    const ask = { body, headers: { 'idempotency-key': 'batch-once' } };
    const answers = await Promise.all(
      [1, 2, 3].map(() => server.request('POST', batchExperimentPath('app'), ask)),
    );
    // Without the key the second and the third would be refused, as the id is taken.
    expect(answers.map(({ status, body: made }) => [status, (made as { id: string }).id])).toEqual(
      Array(3).fill([201, 'once']),
    );
    expect((await waitForBatchEnd(server, 'app', 'once')).number_of_runs).toBe(3);
  });

  test('of two that take the same id at once one is refused, and makes no run', async () => {
    const body = { id: 'twice', name: 'Any name', input_set_id: 'sizes', instance_ids: ['plain'] };
    const answers = await Promise.all(
      [1, 2].map(() => server.request('POST', batchExperimentPath('app'), { body })),
    );
    expect(answers.map((one) => one.status).sort()).toEqual([201, 400]);
    for (const one of answers) if (one.status === 400) expectError(one, 400, 'id is "twice"');
    expect((await waitForBatchEnd(server, 'app', 'twice')).number_of_runs).toBe(3);
  });
});
