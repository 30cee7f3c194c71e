/** Requirements of instances and licences of the account, from the request to the start of a run. */
import type { Waiting } from '@switchyard/contract/runs/waiting.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Writer } from '../../platform/database/database.ts';
import { createRun, pushApp, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const SHELL = { executable_type: 'binary', runtime: 'binary', entrypoint: 'main.sh' } as const;
/** Runs until it is canceled. */
const APP = { 'main.sh': '#!/bin/sh\necho started >&2\nexec sleep 600\n' };
const LICENSES = '/v1/account/licenses';
const INSTANCES = '/v1/applications/app/instances';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '3', SWITCHYARD_LABELS: 'region=eu' } });
  await pushApp(server, 'app', APP, SHELL);
  await server.client.call('createVersion', {
    params: { application_id: 'app' },
    body: { id: 'v1', name: 'One' },
  });
});
afterAll(() => server.close());

let instances = 0;
const postInstance = (requirements: unknown, more: object = {}) => {
  instances += 1;
  const id = `instance-${instances}`;
  const body = { id, version_id: 'v1', configuration: { requirements, ...more } };
  return server.request('POST', INSTANCES, { body });
};
async function createInstance(requirements: unknown, more: object = {}): Promise<string> {
  expectStatus(await postInstance(requirements, more), 201);
  return `instance-${instances}`;
}
async function readMetadata(run: string) {
  const { body } = await server.client.call('getRunMetadata', {
    params: { application_id: 'app', run_id: run as RunId },
  });
  return body.metadata;
}
async function readWaiting(run: string): Promise<Waiting> {
  const { waiting } = await readMetadata(run);
  if (!waiting) throw new Error(`${run} does not wait.`);
  // The queue gives the same reason.
  const { body } = await server.client.call('getQueue');
  expect(body.runs.find(({ id }) => id === run)?.waiting).toEqual(waiting);
  return waiting;
}
const cancel = async (run: string) => {
  expectStatus(await server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`), 204);
  await waitForRunEnd(server, 'app', run);
};
const setLicenses = (licenses: { name: string; total: number }[]) =>
  server.request('PUT', LICENSES, { body: { licenses } });

describe('the requirements of an instance', () => {
  test('are stored sorted, and shown by instance and run', async () => {
    const requirements = { labels: ['region=eu', 'gpu', 'gpu'], licenses: { xpress: 1, gurobi: 2 } };
    const created = await postInstance(requirements);
    const complete = { labels: ['gpu', 'region=eu'], licenses: { gurobi: 2, xpress: 1 } };
    expect(created.body).toMatchObject({ configuration: { requirements: complete } });
    const run = await createRun(server, 'app', { instance: `instance-${instances}` });
    expect((await readMetadata(run)).requirements).toEqual(complete);
    await cancel(run);
    const replay = await server.request('POST', `/v1/applications/app/runs/${run}/replay`, { body: {} });
    const { run_id: replayed } = replay.body as { run_id: string };
    expect((await readMetadata(replayed)).requirements).toEqual(complete);
    await cancel(replayed);
    const none = await postInstance({ labels: [], licenses: null });
    expect(none.body).toHaveProperty('configuration');
    expect((none.body as { configuration: object }).configuration).not.toHaveProperty('requirements');
  });

  test('hold for the runs of experiments too', async () => {
    const instance = await createInstance({ labels: ['gpu'] });
    const source = await createRun(server, 'app');
    await cancel(source);
    await server.client.call('createInputSet', {
      params: { application_id: 'app' },
      body: { id: 'inputs', name: 'Inputs', run_ids: [source as RunId] },
    });
    const created = await server.request('POST', '/v1/applications/app/experiments/batch', {
      body: { id: 'batch', name: 'Batch', input_set_id: 'inputs', instance_ids: [instance] },
    });
    expectStatus(created, 201);
    await expect
      .poll(async () =>
        (await server.client.call('getQueue')).body.runs.map(({ waiting }) => waiting?.reason),
      )
      .toEqual(['labels_missing']);
    expectStatus(await server.request('DELETE', '/v1/applications/app/experiments/batch/batch'), 204);
  });

  test.each([
    [{ labels: ['two words'] }, 'labels'],
    [{ labels: 'gpu' }, 'labels'],
    [{ licenses: { gurobi: 0 } }, 'gurobi'],
    [{ licenses: { 'a b': 1 } }, 'a b'],
    [
      { licenses: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`l${index}`, 1])) },
      '51 licences',
    ],
    [{ cores: 4 }, 'cores'],
  ])('are refused: %j', async (requirements, words) => {
    expectError(await postInstance(requirements), 400, words);
  });
});

test('a run that requires a label no worker has waits for it, and blocks no other run', async () => {
  const instance = await createInstance({ labels: ['gpu', 'region=eu'] });
  const run = await createRun(server, 'app', { instance });
  const other = await createRun(server, 'app', { instance: await createInstance({ labels: ['region=eu'] }) });
  await waitForLogLine(server, 'app', other, 'started');
  expect(await readWaiting(run)).toMatchObject({
    ...{ place: 1, reason: 'labels_missing', required_labels: ['gpu', 'region=eu'] },
    can_be_provisioned: false,
  });
  const refused = await server.request('POST', `/v1/applications/app/runs?instance_id=${instance}`, {
    body: { configuration: { queuing: { disabled: true } } },
  });
  expectError(refused, 429, 'no active worker that could execute the run');
  for (const one of [run, other]) await cancel(one);
});

describe('licences', () => {
  test('let as many runs start as there are tokens, and the next say who holds them', async () => {
    const instance = await createInstance({ licenses: { gurobi: 2 } });
    const first = await createRun(server, 'app', { instance });
    expect(await readWaiting(first)).toMatchObject({
      reason: 'licenses_missing',
      licenses: [{ name: 'gurobi', required: 2, total: 0, used: 0, holders: [] }],
    });
    expectStatus(await setLicenses([{ name: 'gurobi', total: 3 }]), 200);
    await waitForLogLine(server, 'app', first, 'started');
    const second = await createRun(server, 'app', { instance });
    const holder = { run_id: first, application_id: 'app', started_at: expect.any(String), tokens: 2 };
    const use = { name: 'gurobi', total: 3, used: 2, holders: [holder] };
    expect(await readWaiting(second)).toMatchObject({
      reason: 'licenses_taken',
      predicted_start_absence: 'few_past_runs',
      message: `The run requires 2 tokens of the licence gurobi, of which 2 of 3 are in use by ${first}; the run waits until enough of them are free.`,
      licenses: [{ ...use, required: 2 }],
    });
    expect((await server.request('GET', LICENSES)).body).toMatchObject({ licenses: [use] });
    const refused = await server.request('POST', `/v1/applications/app/runs?instance_id=${instance}`, {
      body: { configuration: { queuing: { disabled: true } } },
    });
    expectError(refused, 429, '2 of 3');
    const metrics = (await server.request('GET', '/metrics')).text;
    expect(metrics).toMatch(/^switchyard_license_tokens\{license="gurobi"\} 3$/m);
    expect(metrics).toMatch(/^switchyard_license_tokens_used\{license="gurobi"\} 2$/m);
    await cancel(first);
    await waitForLogLine(server, 'app', second, 'started');
    await cancel(second);
    expectStatus(await setLicenses([]), 200);
    expect((await server.request('GET', LICENSES)).body).toMatchObject({ licenses: [] });
    const { body } = await server.client.call('listAuditEntries', {});
    expect(JSON.stringify(body)).toContain('setLicenses');
  });

  test('are refused when a name stands twice', async () => {
    const twice = [
      { name: 'gurobi', total: 1 },
      { name: 'gurobi', total: 2 },
    ];
    expectError(await setLicenses(twice), 400, 'gurobi');
  });
});

test('a workflow that waits for the bound of a level says so', async () => {
  const instance = await createInstance(null, { api_access: { applications: ['app'] } });
  const first = await createRun(server, 'app', { instance });
  // The worker claims nothing while its slots are taken: it knows only its own workflows, not the rows below.
  const others = [await createRun(server, 'app'), await createRun(server, 'app')];
  for (const run of [first, ...others]) await waitForLogLine(server, 'app', run, 'started');
  const { database } = server.runningServer;
  const row = await database.read
    .selectFrom('runs')
    .selectAll()
    .where('id', '=', first as RunId)
    .executeTakeFirstOrThrow();
  const copies = Array.from({ length: 15 }, (_, index) => ({
    ...row,
    ...{ id: `run-copy-${index}` as RunId, slot_released_at: row.created_at },
  }));
  const ids = copies.map(({ id }) => id);
  const deleteCopies = (tx: Writer) => tx.deleteFrom('runs').where('id', 'in', ids).execute();
  const waiting = await createRun(server, 'app', { instance });
  // Every 10 s the worker requeues the runs that it does not execute, also between the insertion and the answer.
  await expect
    .poll(async () => {
      await database.transact(async (tx) => {
        await deleteCopies(tx);
        await tx.insertInto('runs').values(copies).execute();
      });
      return (await readMetadata(waiting)).waiting;
    })
    .toMatchObject({ reason: 'workflows_running', workflows: { level: 1, limit: 16 } });
  await database.transact(deleteCopies);
  for (const run of [waiting, first, ...others]) await cancel(run);
});

describe('a worker that offers the allocation of its job', () => {
  let job: TestServer;
  beforeAll(async () => {
    const allocation = { SLURM_JOB_ID: '1', SLURM_CPUS_ON_NODE: '8', SLURM_MEM_PER_NODE: '32000' };
    job = await startTestServer({
      env: { SWITCHYARD_CAPACITY: '4', SWITCHYARD_RESOURCES: 'allocation', ...allocation },
    });
    await pushApp(job, 'app', APP, SHELL);
  });
  afterAll(() => job.close());

  test('starts the runs that fit, and says what the others lack', async () => {
    const [worker] = (await job.client.call('getWorkers')).body.items;
    expect(worker).toMatchObject({ cores: 8, memory_bytes: 32_000 * 1024 ** 2, labels: [] });
    const first = await createRun(job, 'app');
    await waitForLogLine(job, 'app', first, 'started');
    const large = await createRun(job, 'app', { body: { configuration: { execution_class: '16c60gb12h' } } });
    const second = await createRun(job, 'app');
    const { body } = await job.client.call('getQueue');
    const waiting = new Map(body.runs.map(({ id, waiting: reason }) => [id as string, reason]));
    expect(waiting.get(large)).toMatchObject({
      reason: 'class_too_large',
      required_resources: { cores: 16, memory_bytes: 60e9 },
      largest_worker: { cores: 8, memory_bytes: 32_000 * 1024 ** 2 },
    });
    expect(waiting.get(second)).toMatchObject({
      reason: 'resources_taken',
      predicted_start_absence: 'shared_resources',
      slots: { total: 4, free: 3 },
      required_resources: { cores: 6, memory_bytes: 9.5e9 },
    });
    const refused = await job.request('POST', '/v1/applications/app/runs', {
      body: { configuration: { queuing: { disabled: true } } },
    });
    expectError(refused, 429, '1 of 4 are taken, no worker has its cores and memory free');
    expectStatus(await job.request('PATCH', `/v1/applications/app/runs/${first}/cancel`), 204);
    await waitForLogLine(job, 'app', second, 'started');
  });
});
