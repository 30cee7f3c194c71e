/** Bisect experiments through the API: an app in several versions, one of which made its value worse. */
import type { BisectExperiment } from '@switchyard/contract/experiments/bisect-experiments.ts';
import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const PATH = '/v1/applications/app/experiments/bisect';
const VERSIONS = ['v1', 'v2', 'v3', 'v4', 'v5'];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  // From v4 on the value is 5 % larger; v5 fails on the input that says so.
  for (const [index, id] of VERSIONS.entries()) {
    await pushApp(
      server,
      'app',
      nodeApp(`async (input) => {
        if (input.waits) await new Promise(() => { setInterval(() => {}, 1000); });
        if (input.fails && ${index} >= 4) process.exit(3);
        const worse = ${index} >= 3 ? 1.05 : 1;
        return { statistics: { schema: 'v1', result: { value: input.size * (input.equal ? 1 : worse) } } };
      }`),
    );
    await server.client.call('createVersion', {
      params: { application_id: 'app' },
      body: { id, name: `Version ${id}` },
    });
  }
  for (const [id, input] of Object.entries({
    plain: { size: 100 },
    equal: { size: 100, equal: true },
    fails: { size: 100, equal: true, fails: true },
    zero: { size: 0 },
    waits: { size: 1, waits: true },
  })) {
    expectStatus(await createManagedInput(id, input), 201);
  }
}, 120_000);
afterAll(() => server.close());

async function createManagedInput(id: string, input: object) {
  const upload = await server.client.call('createRunUpload', { params: { application_id: 'app' } });
  await fetch(upload.body.upload_url, { method: 'PUT', body: JSON.stringify(input) });
  return server.request('POST', '/v1/applications/app/inputs', {
    body: { id, name: `Input ${id}`, upload_id: upload.body.upload_id },
  });
}

const REQUEST = {
  name: 'Dearer since spring',
  input_ids: ['plain'],
  indicator: 'result.value',
  good_version_id: 'v1',
  bad_version_id: 'v5',
  difference: { type: 'relative', value: 0.02 },
};
const create = (id: string, changes: object = {}) =>
  server.request('POST', PATH, { body: { ...REQUEST, id, ...changes } });
const get = async (id: string): Promise<BisectExperiment> =>
  (
    await server.client.call('getBisectExperiment', {
      params: { application_id: 'app', bisect_id: id as ExperimentId },
    })
  ).body;
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
    number_of_requested_runs: 16,
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

test('a version that fails where the good one does not is worse', async () => {
  expectStatus(await create('fails', { input_ids: ['fails'] }), 201);
  expect(await waitForEnd('fails')).toMatchObject({
    verdict: 'found',
    first_bad_version_id: 'v5',
    last_good_version_id: 'v4',
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
  expect(ended.reason).toContain('not worse than "v1" by more than 1 %');
});

test('a relative difference of values of 0 fails, with the reason', async () => {
  expectStatus(await create('zero', { input_ids: ['zero'], bad_version_id: 'v2' }), 201);
  const ended = await waitForEnd('zero');
  expect(ended).toMatchObject({ status: 'failed', verdict: 'failed' });
  expect(ended.reason).toContain('absolute');
});

test('a stopped search cancels its runs and stays stopped', async () => {
  expectStatus(await create('stopped', { input_ids: ['waits'] }), 201);
  const stop = () => server.request('PUT', `${PATH}/stopped/stop`);
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
  const created = await server.request('POST', PATH, { body: { ...REQUEST, bad_version_id: 'v2' } });
  expectStatus(created, 201);
  const { id } = created.body as { id: string };
  expect(id).toMatch(/^bisect-[a-z0-9]+$/);
  const list = await server.request('GET', `${PATH}?pagereturn=true&limit=1`);
  expect(list.body).toMatchObject({ items: [{ id }] });
  expectStatus(await server.request('DELETE', `${PATH}/${id}`), 204);
  expectError(await server.request('GET', `${PATH}/${id}`), 404, id);
});

test('a search continues after a restart', async () => {
  expectStatus(await create('restarted'), 201);
  await server.restart();
  expect(await waitForEnd('restarted')).toMatchObject({ verdict: 'found', first_bad_version_id: 'v4' });
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
    { title: 'an id in use', changes: { id: 'found' }, words: ['another bisect experiment'] },
  ])('$title', async ({ changes, words }) => {
    expectError(await create('refused', changes), 400, ...words);
  });

  test('a missing instance, and a viewer', async () => {
    expectError(await create('refused', { instance_id: 'none' }), 404, 'none');
    const { token } = await server.createKey('viewer');
    expectStatus(await server.request('POST', PATH, { body: { ...REQUEST, id: 'refused' }, token }), 403);
  });
});
