/** Option names: a name that the manifest declares is valid in runs, instances, ensembles and experiments. */
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
  await createVersion('declaring');
  await pushApp(server, 'app', ARGUMENTS, { options: { items: [{ name: 'duration' }] } });
  await createVersion('renamed');
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
const createVersion = (id: string) =>
  server.client.call('createVersion', { params: { application_id: 'app' }, body: { id, name: `V ${id}` } });
const post = (path: string, body: unknown, token?: string) =>
  server.request('POST', `${PATH}${path}`, { body, ...(token ? { token } : {}) });
const createOptions = (names: readonly string[]) =>
  JSON.parse(`{${names.map((n) => `${JSON.stringify(n)}:"5"`)}}`);

describe('B1: a declared name with other characters than letters, digits and periods', () => {
  test('is accepted in a run and reaches the app as declared', async () => {
    const requested = createOptions(['mip-gap', 'time_limit', 'größe in m', '__proto__']);
    const run = await createRunAndWait(server, 'app', { body: { options: requested } });
    expect(run.output).toEqual({
      arguments: ['--time_limit=5', '--mip-gap=5', '--größe in m=5', '--__proto__=5'],
    });
    expect(run.metadata.options.request_options).toEqual(requested);
    expect(run.metadata.options.options_summary).toContainEqual({
      name: 'time_limit',
      value: '5',
      source: 'run',
    });
  });

  test('is accepted in an external run', async () => {
    const configuration = { run_type: { type: 'external' } };
    expectStatus(await post('/runs', { configuration, options: createOptions(['time_limit']) }), 202);
    expectError(
      await post('/runs', { configuration, options: createOptions(['time-limit']) }),
      400,
      'time_limit',
    );
  });

  test('is accepted in an instance of a version that declares it', async () => {
    const configuration = { options: createOptions(['time_limit']) };
    const instance = { id: 'declared', name: 'Declared', version_id: 'declaring', configuration };
    expectStatus(await post('/instances', instance), 201);
    const run = await createRunAndWait(server, 'app', { instance: 'declared' });
    expect(run.output).toEqual({ arguments: ['--time_limit=5'] });
    expectError(
      await post('/instances', { ...instance, id: 'refused', version_id: 'renamed' }),
      400,
      'version "renamed"',
      'configuration.options has the option "time_limit"',
      'declares duration',
    );
  });

  test('prevents an instance from changing to a version that does not declare it', async () => {
    const configuration = { options: createOptions(['time_limit', 'secret_name']) };
    const instance = { id: 'moving', name: 'Moving', version_id: 'declaring', configuration };
    expectStatus(await post('/instances', instance), 201);
    const put = (body: unknown, token?: string) =>
      server.request('PUT', `${PATH}/instances/moving`, { body, ...(token ? { token } : {}) });
    const before = (await server.request('GET', `${PATH}/instances/moving`)).body;
    expectError(await put({ version_id: 'renamed' }), 400, '"renamed"', 'time_limit');
    expect((await server.request('GET', `${PATH}/instances/moving`)).body).toEqual(before);
    expectStatus(await put({ version_id: 'renamed', configuration: { options: {} } }), 200);
  });

  test('is accepted in an ensemble when the apps of all run groups declare it', async () => {
    const defineEnsemble = (instance: string) => ({
      id: `on-${instance}`,
      name: 'Any name',
      run_groups: [{ id: 'group', instance_id: instance, options: createOptions(['time_limit']) }],
      rules: [{ id: 'cost', statistics_path: 'result.value', objective: 'minimize', index: 0 }],
    });
    expectStatus(await post('/ensembles', defineEnsemble('before')), 201);
    expectStatus(await post('/ensembles', defineEnsemble('latest')), 201);
    expectError(
      await post('/ensembles', defineEnsemble('after')),
      400,
      'run_groups.0.options has the option "time_limit"',
      'declares duration',
    );
    const startEnsemble = (definition_id: string) =>
      post('/runs', {
        options: createOptions(['mip-gap']),
        configuration: { run_type: { type: 'ensemble', definition_id } },
      });
    expectStatus(await startEnsemble('on-before'), 202);
    expectStatus(
      await post('/ensembles', {
        ...defineEnsemble('after'),
        id: 'plain',
        run_groups: [{ id: 'g', instance_id: 'after' }],
      }),
      201,
    );
    expectError(await startEnsemble('plain'), 400, 'run group "g"', '"mip-gap"');
  });

  test('is accepted in an option set that every candidate declares', async () => {
    const batch = { input_set_id: 'one', option_sets: { slow: createOptions(['time_limit', 'mip-gap']) } };
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
    const requestWithUnusedSet = (name: string) =>
      post('/experiments/batch', {
        ...batch,
        id: 'unused',
        name: 'Any name',
        runs,
        option_sets: { ...batch.option_sets, other: createOptions([name]) },
      });
    expectError(await requestWithUnusedSet('a b'), 400, 'option_sets.other has the option "a b"');
    expectStatus(await requestWithUnusedSet('mip-gap'), 201);
  });
});

describe('B1: a name that no manifest declares', () => {
  test.each(['time-limit', 'a b', '', 'ä', '__defineGetter__'])(
    '%j gets a 400 that lists the declared names',
    async (name) => {
      expectError(
        await post('/runs', { options: createOptions([name]) }),
        400,
        'letters, digits and periods',
        'time_limit, mip-gap',
      );
    },
  );

  test('gets a 400 with the nearest declared name, if one is near', async () => {
    const near = await post('/runs', { options: createOptions(['time-limit']) });
    expectError(near, 400, 'Did you mean "time_limit"?');
    expect((await post('/runs', { options: createOptions(['x_1']) })).text).not.toContain('Did you mean');
  });

  test('of letters, digits and periods is accepted', async () => {
    expectStatus(await post('/runs', { options: createOptions(['Solver.duration2']) }), 202);
  });

  test('gets a 400 that names no option hidden from the caller', async () => {
    const refused = await post('/runs', { options: createOptions(['secret_nam']) }, operator);
    expectError(refused, 400, 'time_limit');
    expect(refused.text).not.toContain('secret_name');
    expect((await post('/runs', { options: createOptions(['secret_nam']) })).text).toContain('secret_name');
  });

  test('gets a 400 from an app with strict options, too', async () => {
    const items = [{ name: 'time_limit', required: true, option_type: 'int' }];
    await pushApp(server, 'strict', ARGUMENTS, {
      options: { strict: true, validation: { enforce: 'all' }, items },
    });
    const requestRun = (body: unknown) => server.request('POST', '/v1/applications/strict/runs', { body });
    expectStatus(await requestRun({ options: { time_limit: 5 } }), 202);
    expectError(await requestRun({ options: { time_limit: 'x' } }), 400, 'options.time_limit is "x"');
    expectError(await requestRun({}), 400, 'options.time_limit is missing');
    expectError(
      await requestRun({ options: { time_limit: 5, timelimit: 5 } }),
      400,
      'options.timelimit is not an option',
    );
    expectError(await requestRun({ options: { time_limit: 5, mip_gap: 5 } }), 400, '"mip_gap"', 'time_limit');
  });
});

test('B1: the manifest cannot declare a name with a NUL, which no argument can contain', async () => {
  await expect(pushApp(server, 'nul', ARGUMENTS, { options: { items: [{ name: 'a\0b' }] } })).rejects.toThrow(
    'NUL',
  );
});
