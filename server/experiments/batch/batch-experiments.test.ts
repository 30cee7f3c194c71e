/** Batch experiments from the request to the results. Tests of invalid requests are in batch-validation.test.ts. */
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

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
let server: TestServer;
/** Ids of the inputs, of sizes 1, 2 and 3. */
let inputs: string[];
beforeAll(async () => {
  server = await startTestServer();
  inputs = await createExperimentApplication(server, 'app', { plain: {}, double: { factor: '2' } });
});
afterAll(() => server.close());

const getBatch = async (path: string): Promise<unknown> => {
  const response = await server.request('GET', batchExperimentPath('app', path));
  expectStatus(response, 200);
  return response.body;
};

describe('a batch experiment', () => {
  let ended: BatchExperiment;
  beforeAll(async () => {
    const created = await createBatchExperiment(server, 'app', {
      id: 'first',
      name: 'The first',
      description: 'Compares the doubled value with the plain value.',
      input_set_id: 'sizes',
      instance_ids: ['plain', 'double'],
      repetitions: 2,
      objectives: { 'result.custom.twice': 'maximize' },
    });
    expect(created).toEqual({
      id: 'first',
      app_id: 'app',
      name: 'The first',
      description: 'Compares the doubled value with the plain value.',
      status: 'started',
      priority: 9,
      type: 'batch',
      input_set_id: 'sizes',
      instance_ids: ['plain', 'double'],
      option_sets: {},
      objectives: { 'result.custom.twice': 'maximize' },
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: created.created_at,
      number_of_requested_runs: 12,
      number_of_runs: 12,
      number_of_completed_runs: 0,
      number_of_failed_runs: 0,
      run_order: { design: 'randomized-blocks', seed: expect.any(String) },
      warnings: [expect.stringContaining('A verdict with 1 candidate needs at least 10')],
    });
    ended = await waitForBatchEnd(server, 'app', 'first');
  });

  test('runs every input on every instance once for each repetition', async () => {
    expect(ended).toMatchObject({
      status: 'completed',
      completed_at: expect.stringMatching(TIMESTAMP),
      number_of_requested_runs: 12,
      number_of_runs: 12,
      number_of_completed_runs: 12,
      number_of_failed_runs: 0,
      refused_runs: [],
      warnings: [expect.stringContaining('at most 3 distinct inputs')],
    });
    const { runs } = (await getBatch('/first/runs')) as { runs: ExperimentRun[] };
    const combinations = runs.map((run) => [run.instance_id, run.input_id, run.repetition]);
    expect(combinations.sort()).toEqual(
      ['plain', 'double']
        .flatMap((instance) =>
          inputs.flatMap((input) => [0, 1].map((repetition) => [instance, input, repetition])),
        )
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
        start_conditions: {
          host: expect.stringMatching(/./),
          concurrent_runs: expect.any(Number),
          load: expect.any(Number),
        },
      });
    expect(ended.runs).toEqual(runs);
  });

  test('returns distributions by instance, and by input and instance, in the requested order', () => {
    const groups = ended.grouped_distributional_summaries.map(({ group_keys, group_values }) => [
      group_keys,
      group_values,
    ]);
    const byInstance = ['instanceID', 'versionID'];
    const byInput = ['inputID', 'instanceID', 'versionID'];
    expect(groups).toEqual([
      [byInstance, ['plain', 'v1']],
      [byInstance, ['double', 'v1']],
      ...['plain', 'double'].flatMap((instance) => inputs.map((input) => [byInput, [input, instance, 'v1']])),
    ]);
    // The values are 2, 2, 4, 4, 6, 6: the mean is 4, the standard deviation the square root of 16 / 5.
    const distribution = ended.grouped_distributional_summaries[1]?.indicator_distributions['result.value'];
    expect(distribution).toMatchObject({ min: 2, max: 6, count: 6, mean: 4 });
    expect(distribution?.std).toBeCloseTo(Math.sqrt(3.2), 12);
    expect(distribution?.percentiles).toMatchObject({ p50: 4, P50: 4, p01: 2, p99: 6 });
    expect(ended.grouped_distributional_summaries[0]?.indicator_keys).toEqual([
      'result.custom.twice',
      'result.value',
    ]);
  });

  test('compares the second instance with the first by input, result.value before other indicators', () => {
    const [compared, ...more] = ended.comparisons;
    expect(more).toEqual([]);
    expect(compared).toMatchObject({
      control: { instance_id: 'plain', version_id: 'v1' },
      candidate: { instance_id: 'double', version_id: 'v1' },
    });
    const [value, twice] = compared?.indicators ?? [];
    // The differences by input are 1, 2 and 3. Three inputs are too few for a verdict. Nobody named a direction.
    expect(value).toMatchObject({
      indicator: 'result.value',
      objective: 'none',
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

  test('lists its runs in one response, or in pages with items and runs', async () => {
    const whole = (await getBatch('/first/runs')) as { runs: ExperimentRun[] };
    const pages = await listAllPages(server, batchExperimentPath('app', '/first/runs'), 5);
    expect(pages.map((page) => page.length)).toEqual([5, 5, 2]);
    expect(pages.flat()).toEqual(whole.runs.map((run) => run.id));
    const page = (await getBatch('/first/runs?pagereturn=true&limit=2')) as { runs: unknown; items: unknown };
    expect(page.runs).toEqual(page.items);
    expectError(
      await server.request('GET', batchExperimentPath('app', '/first/runs?limit=51')),
      400,
      'limit is 51',
    );
  });

  test('returns the same response again, and metadata without runs and results', async () => {
    expect(await getBatch('/first')).toEqual(ended);
    const {
      runs,
      refused_runs,
      failures,
      grouped_distributional_summaries,
      comparisons,
      profiles,
      method,
      decision,
      question,
      ...info
    } = ended;
    expect({ decision, question }).toMatchObject({
      decision: { release: 'undecided' },
      question: { look: 1 },
    });
    expect(method).toBe('2026-11.5');
    expect(await getBatch('/first/metadata')).toEqual(info);
  });

  test.each([
    ['gzip', 'gzip'],
    ['br;q=1, *;q=0.5', 'gzip'],
    ['identity', null],
    ['gzip;q=0', null],
  ])(
    'with Accept-Encoding %s is encoded as %s, with the verdict before the runs',
    async (accepted, encoding) => {
      const headers = { 'accept-encoding': accepted };
      const response = await server.request('GET', batchExperimentPath('app', '/first'), { headers });
      expect(response.headers.get('content-encoding')).toBe(encoding);
      expect(response.headers.get('vary')).toContain('accept-encoding');
      const fields = Object.keys(response.body as object);
      expect(fields.slice(-2)).toEqual(['grouped_distributional_summaries', 'runs']);
      expect(fields.indexOf('comparisons')).toBeLessThan(fields.indexOf('warnings'));
    },
  );

  test('releases its inputs when it ends', async () => {
    const inputRows = await server.runningServer.database.read
      .selectFrom('experiment_inputs')
      .selectAll()
      .execute();
    expect(inputRows).toEqual([]);
  });

  test('is a 404 for another account', async () => {
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

test('`default` resolves to the default instance when the experiment is created', async () => {
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
  const results = runs.map((run) => [run.instance_id, run.version_id, run.statistics.indicators[0]?.value]);
  expect(results.sort()).toEqual([
    ['double', 'v1', 2],
    ['latest', '', 1],
  ]);
});

describe('option sets', () => {
  test('apply to every instance, override its options, and may be empty', async () => {
    const { id } = await createBatchExperiment(server, 'app', {
      input_set_id: 'sizes',
      instance_ids: ['double'],
      option_sets: { none_0: {}, 'ten.1': { factor: 10 }, 'shift-2': { shift: '0.5' } },
    });
    const ended = await waitForBatchEnd(server, 'app', id);
    expect(ended.option_sets).toEqual({ none_0: {}, 'ten.1': { factor: '10' }, 'shift-2': { shift: '0.5' } });
    expect(ended.number_of_runs).toBe(9);
    const keys = ['instanceID', 'versionID', 'optionSetID'].join();
    const means = ended.grouped_distributional_summaries
      .filter((summary) => summary.group_keys.join() === keys)
      .map((summary) => [summary.group_values[2], summary.indicator_distributions['result.value']?.mean]);
    expect(means).toEqual([
      ['none_0', 4],
      ['ten.1', 20],
      ['shift-2', 4.5],
    ]);
    expect(
      ended.comparisons.map(({ control, candidate }) => [control.option_set, candidate.option_set]),
    ).toEqual([
      ['none_0', 'ten.1'],
      ['none_0', 'shift-2'],
    ]);
    expect(new Set(ended.runs.map((run) => run.option_set))).toEqual(new Set(['none_0', 'ten.1', 'shift-2']));
  });

  test('omit options that are hidden from the role, in runs too', async () => {
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
    const created = await createBatchExperiment(server, 'hiding', {
      input_set_id: 'sizes',
      instance_ids: ['latest'],
      option_sets: { all: { factor: '7', shift: '1' } },
    });
    expect(created.option_sets).toEqual({ all: { factor: '7', shift: '1' } });
    await waitForBatchEnd(server, 'hiding', created.id);
    const { token } = await server.createKey('viewer');
    for (const rest of ['', `/${created.id}`, `/${created.id}/metadata`, `/${created.id}/runs`]) {
      const response = await server.request('GET', batchExperimentPath('hiding', rest), { token });
      expectStatus(response, 200);
      expect(response.text).toContain('"shift"');
      expect(response.text).not.toContain('factor');
    }
  });
});

describe('creation and update', () => {
  test('PATCH changes name and description and returns the updated experiment', async () => {
    const id = uniqueId('patched');
    await createBatchExperiment(server, 'app', { id, input_set_id: 'sizes', instance_ids: ['plain'] });
    const body = { name: 'Another name', description: 'Short.', status: 'draft' };
    const response = await server.request('PATCH', batchExperimentPath('app', `/${id}`), { body });
    expectStatus(response, 200);
    expect(response.body).toMatchObject({ id, name: 'Another name', description: 'Short.', type: 'batch' });
    const ended = await waitForBatchEnd(server, 'app', id);
    expect(ended).toMatchObject({ name: 'Another name', description: 'Short.', status: 'completed' });
    expectError(
      await server.request('PATCH', batchExperimentPath('app', '/none'), { body }),
      404,
      'batch experiment "none"',
    );
    for (const [bad, word] of [
      [{ runs: [] }, 'runs'],
      [{ name: 'ab' }, 'name'],
      [{ name: 'x'.repeat(49) }, 'name'],
      [{ name: 'A third name', description: 'x'.repeat(129) }, 'description'],
    ] as const)
      expectError(
        await server.request('PATCH', batchExperimentPath('app', `/${id}`), { body: bad }),
        400,
        word,
      );
    expect(await getBatch(`/${id}`)).toEqual(ended);
  });

  test('requests with the same Idempotency-Key create one experiment', async () => {
    const body = { id: 'once', name: 'Any name', input_set_id: 'sizes', instance_ids: ['plain'] };
    const request = { body, headers: { 'idempotency-key': 'batch-once' } };
    const responses = await Promise.all(
      [1, 2, 3].map(() => server.request('POST', batchExperimentPath('app'), request)),
    );
    // Without the key, the second and third requests get 400, because the id exists.
    expect(responses.map(({ status, body: created }) => [status, (created as { id: string }).id])).toEqual(
      Array(3).fill([201, 'once']),
    );
    expect((await waitForBatchEnd(server, 'app', 'once')).number_of_runs).toBe(3);
  });

  test('one of two concurrent requests with the same id gets 400 and creates no run', async () => {
    const body = { id: 'twice', name: 'Any name', input_set_id: 'sizes', instance_ids: ['plain'] };
    const responses = await Promise.all(
      [1, 2].map(() => server.request('POST', batchExperimentPath('app'), { body })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 400]);
    for (const response of responses)
      if (response.status === 400) expectError(response, 400, 'id is "twice"');
    expect((await waitForBatchEnd(server, 'app', 'twice')).number_of_runs).toBe(3);
  });
});
