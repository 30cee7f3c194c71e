/** Bisect experiments through the API: an app in several versions, one of which made its value worse. */
import type { BisectExperiment } from '@switchyard/contract/experiments/bisect/bisect-experiments.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  bisectCalls,
  bisectedApp,
  createBisectedApplication,
} from '../../testing/fixtures/bisect-experiments.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const PATH = '/v1/applications/app/experiments/bisect';
const VERSIONS = ['v1', 'v2', 'v3', 'v4', 'v5'];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  const [good, worse] = [bisectedApp(1), bisectedApp(1.05)];
  // From v4 on the value is 5 % larger.
  await createBisectedApplication(
    server,
    { v1: good, v2: good, v3: good, v4: worse, v5: worse },
    {
      plain: { size: 100 },
      other: { size: 200 },
      equal: { size: 100, equal: true },
      zero: { size: 0 },
      waits: { size: 1, waits: true },
    },
  );
});
afterAll(() => server.close());

const REQUEST = {
  name: 'Dearer since spring',
  input_ids: ['plain'],
  indicator: 'result.value',
  good_version_id: 'v1',
  bad_version_id: 'v5',
  difference: { type: 'relative', value: 0.02 },
};
const calls = bisectCalls(() => server, REQUEST);
const { create, get } = calls;
const waitForEnd = (id: string): Promise<BisectExperiment> =>
  server.waitUntil('experiments-ended', async () => {
    const experiment = await get(id);
    return experiment.status === 'started' ? null : experiment;
  });

test('the version that made the value worse is found, over the versions between the good and the bad one', async () => {
  const created = await create('found');
  expectStatus(created, 201);
  // Three tests of four versions, each with an error of 0.05 / 3: the least n with 1.9^n / 2 >= 60 is 8.
  expect(created.body).toMatchObject({
    status: 'started',
    version_ids: VERSIONS,
    confidence: 0.95,
    direction: 'minimize',
    // One round: the input with both versions.
    number_of_requested_runs: 2,
  });
  const ended = await waitForEnd('found');
  expect(ended).toMatchObject({
    status: 'completed',
    verdict: 'found',
    last_good_version_id: 'v3',
    first_bad_version_id: 'v4',
    number_of_requested_runs: 48,
    number_of_completed_runs: 48,
    runs_needed: null,
  });
  expect(ended.probability).toBeGreaterThanOrEqual(0.95);
  expect(
    ended.steps.map(({ version_id, decision, number_of_rounds }) => [version_id, decision, number_of_rounds]),
  ).toEqual([
    ['v5', 'worse', 8],
    ['v3', 'not_worse', 8],
    ['v4', 'worse', 8],
  ]);
  expect(ended.steps[0]?.effect).toBeCloseTo(0.05, 10);
  const { runs } = (await server.request('GET', `${PATH}/found/runs`)).body as {
    runs: { scenario_id: string; version_id: string; experiment_type: string }[];
  };
  expect(runs).toHaveLength(48);
  const ofStep = runs.filter(({ scenario_id }) => scenario_id === 'v3');
  expect(new Set(ofStep.map(({ version_id }) => version_id))).toEqual(new Set(['v1', 'v3']));
  expect(new Set(runs.map(({ experiment_type }) => experiment_type))).toEqual(new Set(['bisect']));
});

describe('F3: a plan', () => {
  test('has the first round and the bounds of the search that then runs, and creates nothing', async () => {
    const { token } = await server.createKey('viewer');
    const list = async () => (await server.request('GET', `${PATH}?pagereturn=true`)).body;
    const before = await list();
    const changes = { input_ids: ['plain', 'other'], bad_version_id: 'v4', maximum_runs: 96 };
    const planned = await server.request('POST', `${PATH}/plan`, { body: { ...REQUEST, ...changes }, token });
    expectStatus(planned, 200);
    // Two inputs with two versions. Three tests of at least eight rounds, as above.
    expect(planned.body).toEqual({
      version_ids: ['v1', 'v2', 'v3', 'v4'],
      input_ids: ['plain', 'other'],
      number_of_tests: 3,
      runs_per_round: 4,
      minimum_runs: 96,
      maximum_runs: 96,
    });
    expect(await list()).toEqual(before);
    // An experiment may have the last word of the path as its id.
    const created = await create('plan', changes);
    expectStatus(created, 201);
    expect(created.body).toMatchObject({ version_ids: VERSIONS.slice(0, 4), number_of_requested_runs: 4 });
    expect(await waitForEnd('plan')).toMatchObject({
      verdict: 'found',
      first_bad_version_id: 'v4',
      number_of_requested_runs: 96,
    });
  });

  test('is refused outside the application', async () => {
    const path = '/v1/applications/none/experiments/bisect/plan';
    expectError(await server.request('POST', path, { body: REQUEST }), 404, 'none');
  });
});

test('versions that are equal on the inputs are not distinguishable', async () => {
  expectStatus(await create('equal', { input_ids: ['equal'], bad_version_id: 'v2' }), 201);
  const ended = await waitForEnd('equal');
  expect(ended).toMatchObject({
    status: 'completed',
    verdict: 'not_distinguishable',
    first_bad_version_id: null,
    probability: null,
    posterior: [],
  });
  expect(ended.reason).toContain('not worse than "v1" by 2\u00a0% or more');
});

test('a relative difference of values of 0 fails, with the reason', async () => {
  expectStatus(await create('zero', { input_ids: ['zero'], bad_version_id: 'v2' }), 201);
  const ended = await waitForEnd('zero');
  expect(ended).toMatchObject({ status: 'failed', verdict: 'failed' });
  expect(ended.reason).toContain('absolute');
});

test('a stopped search cancels its runs and stays stopped', async () => {
  expectStatus(await create('stopped', { input_ids: ['waits'] }), 201);
  const stop = () => calls.stop('stopped');
  expectStatus(await stop(), 204);
  expectStatus(await stop(), 204);
  expect(await get('stopped')).toMatchObject({ status: 'canceled', verdict: 'stopped' });
  await server.waitUntil('runs-ended', async () => {
    const { runs } = (await server.request('GET', `${PATH}/stopped/runs`)).body as {
      runs: { status_v2: string }[];
    };
    return runs.every(({ status_v2 }) => status_v2 === 'canceled');
  });
  expectError(await server.request('PUT', `${PATH}/found/stop`), 400, 'completed');
});

test('an experiment without an id gets one, is listed, and can be deleted', async () => {
  const created = await create('', { id: undefined, bad_version_id: 'v2' });
  expectStatus(created, 201);
  const { id } = created.body as { id: string };
  expect(id).toMatch(/^bisect-[a-z0-9]+$/);
  const list = await server.request('GET', `${PATH}?pagereturn=true&limit=1`);
  expect(list.body).toMatchObject({ items: [{ id }] });
  expectStatus(await server.request('DELETE', `${PATH}/${id}`), 204);
  expectError(await server.request('GET', `${PATH}/${id}`), 404, id);
});

describe('in each status', () => {
  /** A search that has ended as completed, failed or canceled, or has not ended. */
  const STATUSES = ['started', 'completed', 'failed', 'canceled'] as const;
  const begin = async (status: (typeof STATUSES)[number]): Promise<string> => {
    const id = `in-${status}`;
    const input = { started: 'waits', completed: 'equal', failed: 'zero', canceled: 'waits' }[status];
    expectStatus(await create(id, { input_ids: [input], bad_version_id: 'v2' }), 201);
    if (status === 'canceled') expectStatus(await calls.stop(id), 204);
    if (status !== 'started') await waitForEnd(id);
    expect((await get(id)).status).toBe(status);
    return id;
  };

  test.for(STATUSES)('a %s search takes a new name, is listed, and can be deleted', async (status) => {
    const id = await begin(status);
    const path = calls.path(id);
    const change = { name: 'A new name', description: 'Short.', status: 'draft' };
    const changed = await server.request('PATCH', path, { body: change });
    expectStatus(changed, 200);
    // The numbers of runs may change meanwhile.
    const expected = { id, name: 'A new name', description: 'Short.', status };
    expect(changed.body).toMatchObject(expected);
    expect((await server.request('GET', `${path}/metadata`)).body).toMatchObject(expected);
    expectError(await server.request('PATCH', path, { body: { name: 'x' } }), 400, 'name');
    const list = await server.request('GET', `${PATH}?pagereturn=true&limit=1`);
    expect(list.body).toMatchObject({ items: [expected] });
    const stop = await calls.stop(id);
    if (status === 'completed' || status === 'failed') expectError(stop, 400, status);
    else expectStatus(stop, 204);
    expectStatus(await calls.remove(id), 204);
    expectError(await server.request('GET', path), 404, id);
    expectError(await server.request('PATCH', path, { body: {} }), 404, id);
    expectError(await calls.stop(id), 404, id);
    // The id is free again.
    expectStatus(await create(id, { input_ids: ['equal'], bad_version_id: 'v2' }), 201);
    expectStatus(await calls.remove(id), 204);
  });
});

describe('refused requests', () => {
  test.for([
    {
      title: 'a bad version that is not later',
      changes: { good_version_id: 'v3', bad_version_id: 'v2' },
      words: ['created after'],
    },
    { title: 'the same version twice', changes: { bad_version_id: 'v1' }, words: ['created after'] },
    { title: 'a missing version', changes: { good_version_id: 'none' }, words: ['good_version_id', 'none'] },
    { title: 'no input', changes: { input_ids: null }, words: ['input_set_id', 'input_ids'] },
    { title: 'a missing input', changes: { input_ids: ['none'] }, words: ['input_ids', 'none'] },
    { title: 'an input twice', changes: { input_ids: ['plain', 'plain'] }, words: ['twice'] },
    {
      title: 'a difference of 0',
      changes: { difference: { type: 'absolute', value: 0 } },
      words: ['difference.value'],
    },
    {
      title: 'runs that can find nothing',
      changes: { maximum_runs: 47 },
      words: ['maximum_runs is 47', '48 runs'],
    },
    {
      title: 'W12: a missing instance',
      changes: { instance_id: 'none' },
      words: ['instance_id is "none"; it must be an instance of this application.'],
    },
    { title: 'an id in use', changes: { id: 'found' }, words: ['another bisect experiment'] },
    { title: 'a name of two characters', changes: { name: 'ab' }, words: ['name is "ab"'] },
  ])('$title, by the creation and in the same words by its plan', async ({ changes, words }) => {
    const created = await create('refused', changes);
    expectError(created, 400, ...words);
    const body = { ...REQUEST, id: 'refused', ...changes };
    const planned = await server.request('POST', `${PATH}/plan`, { body });
    expect([planned.status, planned.body]).toEqual([400, created.body]);
  });

  test('a viewer', async () => {
    const { token } = await server.createKey('viewer');
    expectStatus(await server.request('POST', PATH, { body: {}, token }), 403);
  });
});
