/** Names and ids that callers choose, and the Prefer header. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createExperimentApplication } from '../../../testing/fixtures/batch-experiments.ts';
import { expectError, expectStatus } from '../../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../../testing/servers/test-server.ts';
import { prefersRepresentation } from './prefer-header.ts';

const APP = '/v1/applications/app';
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await createExperimentApplication(server, 'app', { one: {}, two: {} }, [{ size: 1 }]);
});
afterAll(() => server.close());

const comparison = { baseline_instance_id: 'one', candidate_instance_id: 'two' };
const sides = { control: { instance_id: 'one' }, candidate: { instance_id: 'two' } };
const metric = {
  field: 'result.value',
  statistic: 'mean',
  metric_type: 'direct-comparison',
  params: { operator: 'le' },
};
const rules = [{ id: 'cost', statistics_path: 'result.value', objective: 'minimize', index: 0 }];

/** Every resource that is created with an id and a name, and the method that changes it. */
const RESOURCES: [path: string, body: object, change: 'PUT' | 'PATCH'][] = [
  ['/v1/applications', {}, 'PUT'],
  [`${APP}/versions`, {}, 'PUT'],
  [`${APP}/instances`, { version_id: 'v1' }, 'PUT'],
  [`${APP}/secrets`, { secrets: [] }, 'PUT'],
  [`${APP}/inputs`, { run_id: 'RUN' }, 'PUT'],
  [`${APP}/experiments/inputsets`, { instance_id: 'latest' }, 'PUT'],
  [`${APP}/ensembles`, { run_groups: [{ id: 'a', instance_id: 'one' }], rules }, 'PATCH'],
  [`${APP}/experiments/batch`, { input_set_id: 'sizes', instance_ids: ['one'] }, 'PATCH'],
  [`${APP}/experiments/acceptance`, { ...sides, input_set_id: 'sizes', metrics: [metric] }, 'PATCH'],
  [`${APP}/experiments/shadow`, { comparison, termination_events: { maximum_runs: 1 } }, 'PATCH'],
  [
    `${APP}/experiments/switchback`,
    { comparison, generate_random_plan: { unit_duration_minutes: 1, units: 1 } },
    'PATCH',
  ],
];

test.each(RESOURCES)('B10: %s accepts the id as a name of any length', async (path, body, change) => {
  const inputs = path.endsWith('/inputs');
  if (inputs) {
    const inputSet = await server.request('GET', `${APP}/experiments/inputsets/sizes`);
    body = { run_id: (inputSet.body as { input_ids: string[] }).input_ids[0] };
  }
  // Not `v1`, because the version v1 exists already.
  for (const id of ['q1', 'x'.repeat(64)]) {
    const created = await server.request('POST', path, { body: { ...body, id, name: id } });
    expectStatus(created, 201);
    const url = `${path}/${id}`;
    expectStatus(await server.request(change, url, { body: { name: 'Renamed' } }), inputs ? 204 : 200);
    expectStatus(await server.request(change, url, { body: { name: id } }), inputs ? 204 : 200);
    expect((await server.request('GET', url)).body).toMatchObject({ id, name: id });
    if (inputs) continue;
    for (const name of ['q2', 'y'.repeat(65)]) {
      expectError(await server.request(change, url, { body: { name } }), 400, 'name is "');
      expectError(
        await server.request('POST', path, { body: { ...body, id: 'other', name } }),
        400,
        'name is "',
      );
    }
    expect((await server.request('GET', url)).body).toMatchObject({ id, name: id });
    // Deleting an acceptance test also deletes the batch experiment that was created with its id.
    expectStatus(await server.request('DELETE', url), 204);
  }
});

test.each([
  ['v1.0.0', 'v1-0-0'],
  ['My App_2', 'my-app-2'],
  ['Zürich', 'zurich'],
  ['Größe', 'grosse'],
  ['.hidden.', 'hidden'],
  [`${'a'.repeat(70)}.`, 'a'.repeat(64)],
])('the id %j returns 400 with the suggestion %j', async (id, suggestion) => {
  const rejected = await server.request('POST', `${APP}/versions`, { body: { id } });
  expectError(rejected, 400, `hyphens, such as "${suggestion}".`);
});

test.each(['___', '日本'])('the id %j returns 400 without a suggestion', async (id) => {
  expectError(await server.request('POST', `${APP}/versions`, { body: { id } }), 400, 'digits and hyphens.');
});

test('D2: a batch experiment without an id returns 400', async () => {
  const body = { name: 'Nameless', input_set_id: 'sizes', instance_ids: ['one'] };
  for (const id of [undefined, null])
    expectError(
      await server.request('POST', `${APP}/experiments/batch`, { body: { ...body, id } }),
      400,
      'id is',
    );
});

test.each([
  ['return=representation', true],
  ['Return="Representation"', true],
  ['respond-async, return=representation; foo=1', true],
  ['return=minimal', false],
  ['return=minimal, return=representation', false],
  ['returns=representation', false],
  ['', false],
  [undefined, false],
])('Prefer: %j requests the resource: %j', (prefer, expected) => {
  expect(prefersRepresentation(prefer === undefined ? {} : { prefer })).toBe(expected);
});
