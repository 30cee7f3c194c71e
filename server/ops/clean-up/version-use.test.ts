/** Deletion of a version that instances run: uses that prevent it, and the instances afterwards. */
import type { Instance } from '@switchyard/contract/applications/instances.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import { createBatchExperiment, waitForBatchEnd } from '../../testing/fixtures/batch-experiments.ts';
import { startOnlineTest } from '../../testing/fixtures/online-tests.ts';
import { expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const APP = '/v1/applications/app';
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '6c9500mb870s=1' } });
  await pushApp(
    server,
    'app',
    nodeApp(`(input) => {
      if (!input.waits) return { input };
      console.error('started');
      return new Promise(() => process.on('SIGTERM', () => process.exit(0)) && setInterval(() => {}, 1000));
    }`),
  );
  await create('versions', 'ready');
  await create('instances', 'ready', { version_id: 'ready' });
  const { id } = await createRunAndWait(server, 'app', { input: {} });
  expectStatus(await post('experiments/inputsets', { id: 'one', name: 'One', run_ids: [id] }), 201);
});
afterAll(() => server.close());

const post = (path: string, body: object) => server.request('POST', `${APP}/${path}`, { body });
const create = async (path: string, id: string, body: object = {}) =>
  expectStatus(await post(path, { id, name: `Named ${id}`, ...body }), 201);
const remove = (path: string) => server.request('DELETE', `${APP}/${path}`);
const instance = async (id: string) =>
  (await server.request('GET', `${APP}/instances/${id}`)).body as Instance;
/** Creates a version and an instance with the same id, and returns the id. */
async function createVersionWithInstance(): Promise<string> {
  const id = uniqueId('version');
  await create('versions', id);
  await create('instances', id, { version_id: id });
  return id;
}
/** Expects that the deletion fails with the words, and that the version still exists. */
async function expectInUse(id: string, ...words: string[]): Promise<void> {
  expectError(await remove(`versions/${id}`), 400, `The version "${id}" is used by`, ...words);
  expectStatus(await server.request('GET', `${APP}/versions/${id}`), 200);
}

describe('C1: a version that an instance runs', () => {
  test('can be deleted: the instance reports it, and its runs are refused until it has another version', async () => {
    const id = await createVersionWithInstance();
    expect(await instance(id)).not.toHaveProperty('version_deleted');
    expectStatus(await remove(`versions/${id}`), 204);
    expect(await instance(id)).toMatchObject({ version_id: id, version_deleted: true });
    const list = (await server.request('GET', `${APP}/instances`)).body as Instance[];
    expect(list.filter((one) => one.version_deleted).map((one) => one.id)).toEqual([id]);
    const batch = { instance_ids: [id], input_set_id: 'one', id: 'refused', name: 'Refused' };
    const refusal = `The version "${id}" of the instance "${id}" was deleted`;
    expectError(await post(`runs?instance_id=${id}`, { input: {} }), 400, refusal);
    expectError(await post('experiments/batch', batch), 400, `version "${id}"`);
    const sides = { baseline_instance_id: id, candidate_instance_id: 'ready' };
    await create('experiments/shadow', 'draft', {
      comparison: sides,
      termination_events: { maximum_runs: 1 },
    });
    const start = await server.request('PUT', `${APP}/experiments/shadow/draft/start`);
    expectError(start, 400, `version "${id}"`, 'was deleted');
    // Other changes of the instance, and its deletion, are still possible.
    const put = (body: object) => server.request('PUT', `${APP}/instances/${id}`, { body });
    expectStatus(await put({ name: 'Renamed' }), 200);
    expectStatus(await put({ configuration: { options: { a: '1' } } }), 200);
    expectStatus(await put({ version_id: 'ready' }), 200);
    expect(await instance(id)).not.toHaveProperty('version_deleted');
    expect((await createRunAndWait(server, 'app', { instance: id, input: {} })).status_v2).toBe('succeeded');
    expectStatus(await remove(`instances/${id}`), 204);
  });

  test('stays while the instance is the default instance', async () => {
    const id = await createVersionWithInstance();
    const setDefault = (default_instance: string) =>
      server.request('PUT', APP, { body: { default_instance } });
    expectStatus(await setDefault(id), 200);
    await expectInUse(id, `instance "${id}"`, 'default instance');
    expectStatus(await setDefault('latest'), 200);
    expectStatus(await remove(`versions/${id}`), 204);
  });

  test('stays while the instance has runs that are running or queued', async () => {
    const id = await createVersionWithInstance();
    const running = await createRun(server, 'app', { instance: id, input: { waits: true } });
    await waitForLogLine(server, 'app', running, 'started');
    await expectInUse(id, `instance "${id}"`, `the running run "${running}"`);
    // There is one slot.
    const other = await createVersionWithInstance();
    const queued = await createRun(server, 'app', { instance: other, input: {} });
    await expectInUse(other, `instance "${other}"`, `the queued run "${queued}"`);
    expectStatus(await server.request('PATCH', `${APP}/runs/${running}/cancel`), 204);
    await waitForRunEnd(server, 'app', running);
    await waitForRunEnd(server, 'app', queued);
    for (const version of [id, other]) expectStatus(await remove(`versions/${version}`), 204);
  });

  test.each(['shadow', 'switchback'] as const)(
    'stays while the instance takes part in a started %s test',
    async (kind) => {
      for (const isBaseline of [true, false]) {
        const id = await createVersionWithInstance();
        const test = uniqueId(kind);
        const [baseline, candidate] = isBaseline ? [id, 'ready'] : ['ready', id];
        await startOnlineTest(server, 'app', kind, {
          id: test,
          baseline: baseline ?? '',
          candidate: candidate ?? '',
        });
        await expectInUse(id, `instance "${id}"`, `the ${kind} test "${test}"`);
        expectStatus(await server.request('PUT', `${APP}/experiments/${kind}/${test}/stop`), 204);
        expectStatus(await remove(`versions/${id}`), 204);
      }
    },
  );

  test('stays while a batch experiment runs the instance, or the version itself', async () => {
    const id = await createVersionWithInstance();
    const named = uniqueId('version');
    await create('versions', named);
    const blocker = await createRun(server, 'app', { instance: 'ready', input: { waits: true } });
    await waitForLogLine(server, 'app', blocker, 'started');
    await createBatchExperiment(server, 'app', { id: 'batch', input_set_id: 'one', instance_ids: [id] });
    await createBatchExperiment(server, 'app', {
      id: 'runs',
      input_set_id: 'one',
      runs: [{ version_id: named }],
    });
    await expectInUse(id, `instance "${id}"`, 'the batch experiment "batch"');
    await expectInUse(named, 'the batch experiment "runs"');
    expectStatus(await server.request('PATCH', `${APP}/runs/${blocker}/cancel`), 204);
    await waitForBatchEnd(server, 'app', 'batch');
    await waitForBatchEnd(server, 'app', 'runs');
    for (const version of [id, named]) expectStatus(await remove(`versions/${version}`), 204);
  });

  test('is deleted, or gets a run, but never both at the same time', async () => {
    // A run occupies the only slot, so that no run ends before the deletion.
    const blocker = await createRun(server, 'app', { instance: 'ready', input: { waits: true } });
    await waitForLogLine(server, 'app', blocker, 'started');
    const runs: string[] = [];
    for (let round = 0; round < 10; round += 1) {
      const id = await createVersionWithInstance();
      const [created, removed] = await Promise.all([
        post(`runs?instance_id=${id}`, { input: {} }),
        remove(`versions/${id}`),
      ]);
      expect([`${created.status} ${removed.status}`]).toEqual([expect.stringMatching(/^(202 400|400 204)$/)]);
      if (created.status === 400) expectError(created, 400, `version "${id}"`, 'was deleted');
      else runs.push((created.body as { run_id: string }).run_id);
    }
    expectStatus(await server.request('PATCH', `${APP}/runs/${blocker}/cancel`), 204);
    for (const run of runs) expect((await waitForRunEnd(server, 'app', run)).status_v2).toBe('succeeded');
  });
});
