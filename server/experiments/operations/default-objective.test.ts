/** The objective of the application is the default of its experiments and ensembles; what a request names replaces it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createExperimentApplication } from '../../testing/fixtures/batch-experiments.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  for (const id of ['judged', 'plain'])
    await createExperimentApplication(
      server,
      id,
      { control: {}, candidate: {} },
      Array.from({ length: 12 }, (_, size) => ({ size })),
    );
  const body = { objective: { name: 'profit', direction: 'maximize' } };
  expectStatus(await server.request('PUT', '/v1/applications/judged', { body }), 200);
});
afterAll(() => server.close());

const post = (application: string, path: string, body: object) =>
  server.request('POST', `/v1/applications/${application}/${path}`, { body: { name: 'Any name', ...body } });
const comparison = { baseline_instance_id: 'control', candidate_instance_id: 'candidate' };
const BODIES = {
  batch: { input_set_id: 'sizes', instance_ids: ['control', 'candidate'] },
  shadow: { comparison, termination_events: { maximum_runs: 5 } },
  switchback: { comparison, generate_random_plan: { unit_duration_minutes: 60, units: 4 } },
};

test.each(Object.entries(BODIES))(
  'a %s test without objectives compares by the objective',
  async (type, body) => {
    const path = `experiments/${type}`;
    const read = async (application: string, id: string) =>
      (await server.request('GET', `/v1/applications/${application}/${path}/${id}`)).body;
    expectStatus(await post('judged', path, { ...body, id: 'default' }), 201);
    expect(await read('judged', 'default')).toMatchObject({ objectives: { profit: 'maximize' } });
    await post('judged', path, { ...body, id: 'named', objectives: { time: 'minimize' } });
    expect(await read('judged', 'named')).toMatchObject({ objectives: { time: 'minimize' } });
    for (const [application, objectives] of [
      ['judged', {}],
      ['plain', null],
    ] as const) {
      await post(application, path, { ...body, id: 'none', objectives });
      expect(Object.keys(Object(Object(await read(application, 'none')).objectives))).toEqual([]);
    }
  },
);

test('the objective can be the primary indicator, and another one still needs a direction', async () => {
  const path = 'experiments/batch';
  expectStatus(await post('judged', path, { ...BODIES.batch, id: 'primary', primary: 'profit' }), 201);
  expectError(
    await post('judged', path, { ...BODIES.batch, id: 'other', primary: 'time' }),
    400,
    'primary is "time", which has no direction',
  );
});

test('an ensemble without rules keeps the best run by the objective', async () => {
  const body = { id: 'best', run_groups: [{ id: 'all', instance_id: 'control', repetitions: 2 }] };
  const created = await post('judged', 'ensembles', body);
  expectStatus(created, 201);
  expect(created.body).toMatchObject({
    rules: [{ id: 'objective', statistics_path: 'profit', objective: 'maximize', index: 0 }],
  });
  expectError(await post('plain', 'ensembles', body), 400, 'rules is missing');
});

test('a bisect experiment has the direction of the objective, for its indicator only', async () => {
  for (const id of ['good', 'bad']) expectStatus(await post('judged', 'versions', { id }), 201);
  const body = {
    ...{ input_set_id: 'sizes', good_version_id: 'good', bad_version_id: 'bad' },
    difference: { type: 'relative', value: 0.1 },
  };
  for (const [indicator, direction] of [
    ['profit', 'maximize'],
    ['time', 'minimize'],
  ] as const) {
    const created = await post('judged', 'experiments/bisect', { ...body, id: indicator, indicator });
    expectStatus(created, 201);
    expect(created.body).toMatchObject({ direction });
  }
});
