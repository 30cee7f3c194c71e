/** Option names: what the manifest declares is accepted as declared, wherever options are given. */
import type { ExecutableOptions } from '@switchyard/contract/applications/executables.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunAndWait, type Files, pushApp } from '../../testing/fixtures/apps.ts';
import { createBatchExperiment, waitForBatchEnd } from '../../testing/fixtures/batch-experiments.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const ARGUMENTS: Files = {
  'main.mjs': 'console.log(JSON.stringify({ arguments: process.argv.slice(2) }));',
};
const UI = { hidden_from: ['operator' as const] };
const DECLARED: ExecutableOptions = {
  items: [
    { name: 'time_limit', option_type: 'int', default: 30 },
    { name: 'mip-gap', option_type: 'float' },
    { name: 'größe in m' },
    { name: '__proto__' },
    { name: 'secret_name', ui: UI },
  ],
  format: { template: ['--{{name}}={{value}}'] },
};

let server: TestServer;
let operator: string;
beforeAll(async () => {
  server = await startTestServer();
  operator = (await server.createKey('operator')).token;
  await pushApp(server, 'app', ARGUMENTS, { options: DECLARED });
  await version('declaring');
  await pushApp(server, 'app', ARGUMENTS, { options: { items: [{ name: 'duration' }] } });
  await version('renamed');
  await pushApp(server, 'app', ARGUMENTS, { options: DECLARED });
  for (const [id, version_id] of [
    ['before', 'declaring'],
    ['after', 'renamed'],
  ] as const)
    expectStatus(await post('/instances', { id, name: id, version_id }), 201);
  const { id } = await createRunAndWait(server, 'app', { input: {} });
  expectStatus(await post('/experiments/inputsets', { id: 'one', name: 'One', run_ids: [id] }), 201);
});
afterAll(() => server.close());

const PATH = '/v1/applications/app';
const version = (id: string) =>
  server.client.call('createVersion', { params: { application_id: 'app' }, body: { id, name: `V ${id}` } });
const post = (path: string, body: unknown, token?: string) =>
  server.request('POST', `${PATH}${path}`, { body, ...(token ? { token } : {}) });
const options = (names: readonly string[]) => JSON.parse(`{${names.map((n) => `${JSON.stringify(n)}:"5"`)}}`);

describe('B1: a declared name with other characters than letters, digits and periods', () => {
  test('is accepted in a run and reaches the app as declared', async () => {
    const given = options(['mip-gap', 'time_limit', 'größe in m', '__proto__']);
    const run = await createRunAndWait(server, 'app', { body: { options: given } });
    expect(run.output).toEqual({
      arguments: ['--time_limit=5', '--mip-gap=5', '--größe in m=5', '--__proto__=5'],
    });
    expect(run.metadata.options.request_options).toEqual(given);
    expect(run.metadata.options.options_summary).toContainEqual({
      name: 'time_limit',
      value: '5',
      source: 'run',
    });
  });

  test('is accepted in an external run', async () => {
    const configuration = { run_type: { type: 'external' } };
    expectStatus(await post('/runs', { configuration, options: options(['time_limit']) }), 202);
    expectError(await post('/runs', { configuration, options: options(['time-limit']) }), 400, 'time_limit');
  });

  test('is accepted in an instance of a version that declares it', async () => {
    const configuration = { options: options(['time_limit']) };
    const instance = { id: 'kept', name: 'Kept', version_id: 'declaring', configuration };
    expectStatus(await post('/instances', instance), 201);
    const run = await createRunAndWait(server, 'app', { instance: 'kept' });
    expect(run.output).toEqual({ arguments: ['--time_limit=5'] });
    expectError(
      await post('/instances', { ...instance, id: 'refused', version_id: 'renamed' }),
      400,
      'version "renamed"',
      'configuration.options has the option "time_limit"',
      'declares duration',
    );
  });

  test('keeps an instance from a version that does not declare it, until the option goes', async () => {
    const configuration = { options: options(['time_limit', 'secret_name']) };
    const instance = { id: 'moving', name: 'Moving', version_id: 'declaring', configuration };
    expectStatus(await post('/instances', instance), 201);
    const put = (body: unknown, token?: string) =>
      server.request('PUT', `${PATH}/instances/moving`, { body, ...(token ? { token } : {}) });
    const before = (await server.request('GET', `${PATH}/instances/moving`)).body;
    expectError(await put({ version_id: 'renamed' }), 400, '"renamed"', 'time_limit');
    expect((await server.request('GET', `${PATH}/instances/moving`)).body).toEqual(before);
    expectStatus(await put({ version_id: 'renamed', configuration: { options: {} } }), 200);
  });

  test('is accepted in an ensemble whose run groups declare it, and refused for the others by name', async () => {
    const groups = (instance: string) => ({
      id: `on-${instance}`,
      name: 'Any name',
      run_groups: [{ id: 'group', instance_id: instance, options: options(['time_limit']) }],
      rules: [{ id: 'cost', statistics_path: 'result.value', objective: 'minimize', index: 0 }],
    });
    expectStatus(await post('/ensembles', groups('before')), 201);
    expectStatus(await post('/ensembles', groups('latest')), 201);
    expectError(
      await post('/ensembles', groups('after')),
      400,
      'run_groups.0.options has the option "time_limit"',
      'declares duration',
    );
    const started = (definition_id: string) =>
      post('/runs', {
        options: options(['mip-gap']),
        configuration: { run_type: { type: 'ensemble', definition_id } },
      });
    expectStatus(await started('on-before'), 202);
    expectStatus(
      await post('/ensembles', {
        ...groups('after'),
        id: 'plain',
        run_groups: [{ id: 'g', instance_id: 'after' }],
      }),
      201,
    );
    expectError(await started('plain'), 400, 'run group "g"', '"mip-gap"');
  });

  test('is accepted in an option set that every candidate declares', async () => {
    const batch = { input_set_id: 'one', option_sets: { slow: options(['time_limit', 'mip-gap']) } };
    await createBatchExperiment(server, 'app', { ...batch, id: 'both', instance_ids: ['before', 'latest'] });
    expect(await waitForBatchEnd(server, 'app', 'both')).toMatchObject({
      status: 'completed',
      number_of_completed_runs: 2,
      refused_runs: [],
    });
    expectError(
      await post('/experiments/batch', {
        ...batch,
        id: 'mixed',
        name: 'Any name',
        instance_ids: ['before', 'after'],
      }),
      400,
      'instance "after"',
      'option_sets.slow has the option "time_limit"',
    );
    const runs = [{ version_id: 'declaring', option_set: 'slow' }];
    await createBatchExperiment(server, 'app', { ...batch, id: 'by-version', type: 'scenario', runs });
    const unused = (name: string) =>
      post('/experiments/batch', {
        ...batch,
        id: 'unused',
        name: 'Any name',
        runs,
        option_sets: { ...batch.option_sets, other: options([name]) },
      });
    expectError(await unused('a b'), 400, 'option_sets.other has the option "a b"');
    expectStatus(await unused('mip-gap'), 201);
  });
});

describe('B1: a name that no manifest declares', () => {
  test.each(['time-limit', 'a b', '', 'ä', '__defineGetter__'])(
    '%j is refused, and the declared names are told',
    async (name) => {
      expectError(
        await post('/runs', { options: options([name]) }),
        400,
        'letters, digits and periods',
        'time_limit, mip-gap',
      );
    },
  );

  test('the nearest declared name is told where one is near', async () => {
    const near = await post('/runs', { options: options(['time-limit']) });
    expectError(near, 400, 'Did you mean "time_limit"?');
    expect((await post('/runs', { options: options(['x_1']) })).text).not.toContain('Did you mean');
  });

  test('of letters, digits and periods is accepted', async () => {
    expectStatus(await post('/runs', { options: options(['Solver.duration2']) }), 202);
  });

  test('is refused without a word about options that are hidden from the caller', async () => {
    const refused = await post('/runs', { options: options(['secret_nam']) }, operator);
    expectError(refused, 400, 'time_limit');
    expect(refused.text).not.toContain('secret_name');
    expect((await post('/runs', { options: options(['secret_nam']) })).text).toContain('secret_name');
  });

  test('is refused by an app with strict options as by any other', async () => {
    const items = [{ name: 'time_limit', required: true, option_type: 'int' }];
    await pushApp(server, 'strict', ARGUMENTS, {
      options: { strict: true, validation: { enforce: 'all' }, items },
    });
    const ask = (body: unknown) => server.request('POST', '/v1/applications/strict/runs', { body });
    expectStatus(await ask({ options: { time_limit: 5 } }), 202);
    expectError(await ask({ options: { time_limit: 'x' } }), 400, 'options.time_limit is "x"');
    expectError(await ask({}), 400, 'options.time_limit is missing');
    expectError(
      await ask({ options: { time_limit: 5, timelimit: 5 } }),
      400,
      'options.timelimit is not an option',
    );
    expectError(await ask({ options: { time_limit: 5, mip_gap: 5 } }), 400, '"mip_gap"', 'time_limit');
  });
});

test('B1: the manifest cannot declare a name that no program can be given', async () => {
  await expect(pushApp(server, 'nul', ARGUMENTS, { options: { items: [{ name: 'a\0b' }] } })).rejects.toThrow(
    'NUL',
  );
});
