/** The reconciler against a cluster in memory, with real queued runs: no slot of the server serves their class. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createMetrics } from '../../platform/http/metrics.ts';
import { createLog } from '../../platform/log.ts';
import { systemRandom } from '../../platform/random.ts';
import type { ProvisionerSettings } from '../../platform/settings/provisioner-settings.ts';
import { createRun, pushApp } from '../../testing/fixtures/apps.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { MemoryCluster } from '../../testing/host/memory-cluster.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { wrapLabel } from '../queue/run-requirements.ts';
import { deregisterWorker, registerWorker, type Worker } from '../workers/workers.ts';
import { groupPendingReasons } from './count-jobs.ts';
import { MISSING_GRACE_MS } from './observe-jobs.ts';
import { BLOCKED_TIMEOUT_MS, REGISTRATION_TIMEOUT_MS } from './plan-workers.ts';
import { reconcileWorkersJob } from './reconcile-workers.ts';
import { listJobs, readState } from './store.ts';

const PREFIX = 'switchyard-test-';
const IDLE_MS = 120_000;
const SHELL = { executable_type: 'binary', runtime: 'binary', entrypoint: 'main.sh' } as const;
const clock = createManualClock(Date.UTC(2026, 10, 20, 8));
let server: TestServer;
let cluster: MemoryCluster;

beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '0,16c60gb12h=1' }, clock });
  await pushApp(server, 'app', { 'main.sh': '#!/bin/sh\necho "{}"\n' }, SHELL);
  cluster = new MemoryCluster();
});
afterEach(async () => {
  const { database } = server.runningServer;
  await database.transact(async (tx) => {
    await tx.deleteFrom('worker_jobs').execute();
    await tx.deleteFrom('provisioner_state').execute();
    await tx.deleteFrom('workers').where('job_id', 'is not', null).execute();
    await tx.updateTable('runs').set({ status: 'canceled' }).where('status', '=', 'queued').execute();
  });
  cluster = new MemoryCluster();
});
afterAll(() => server.close());

let tokens = 0;
/** Returns the job of a server that has just started; two of them are a server before and after a restart. */
function createReconciler(settings: Partial<ProvisionerSettings> = {}) {
  return reconcileWorkersJob({
    ...{ database: server.runningServer.database, clock, random: systemRandom },
    ...{ log: createLog('silent'), metrics: createMetrics(), adapter: cluster, namePrefix: PREFIX },
    settings: {
      ...{ max: 3, idleMs: IDLE_MS, server: null, labels: ['gpu'], env: {} },
      adapter: {
        kind: 'command',
        ...{ start: '', list: '', stop: '', size: { cores: 12, memoryBytes: 64e9 } },
      },
      ...settings,
    },
    issueWorkerToken: async () => {
      tokens += 1;
      return `token-${tokens}`;
    },
    publicUrl: () => 'https://yard.example',
  });
}

const createRuns = (count: number): Promise<RunId[]> =>
  Promise.all(Array.from({ length: count }, async () => (await createRun(server, 'app')) as RunId));
const readRow = async () => readState(server.runningServer.database.read);
const readJobs = async () =>
  (await listJobs(server.runningServer.database.read)).sort(
    (one, other) => Number(one.id) - Number(other.id),
  );

function buildWorker(jobId: string): Worker {
  return {
    ...{ id: `worker-${jobId}`, folderId: jobId, capacity: { shared: 12, perClass: {} }, host: 'n1' },
    ...{
      version: '1.7.0',
      startedAt: clock.now(),
      kind: 'remote',
      scratchBytes: null,
      tokenId: null,
      jobId,
      containment: 'limits',
    },
    offer: { labels: ['gpu'], resources: { cores: 12, memoryBytes: 64e9 }, scope: null },
  };
}
const register = (jobId: string): Promise<void> =>
  registerWorker(server.runningServer.database, buildWorker(jobId), clock.now());

describe('a batch of runs', () => {
  test('starts the workers that it fills, and no other one after a restart', async () => {
    await createRuns(3);
    await createReconciler().runOnce();
    // Twelve cores hold two runs of six cores.
    expect(cluster.requests).toMatchObject([
      { server: 'https://yard.example', labels: ['gpu'], idleMs: IDLE_MS, token: `token-${tokens}` },
      { token: `token-${tokens}` },
    ]);
    const restarted = createReconciler();
    await restarted.runOnce();
    await restarted.runOnce();
    expect(cluster.requests.length).toBe(2);
    expect((await readJobs()).map(({ id, state }) => [id, state])).toEqual([
      ['1', 'pending'],
      ['2', 'pending'],
    ]);
  });

  test('starts workers for the runs that a quota lets start, and no more than the most', async () => {
    await createRuns(20);
    const setQuota = (concurrent_runs: number | null) =>
      server.client.call('setQuotas', { body: { concurrent_runs, core_hours_per_month: null } });
    await setQuota(2);
    const reconciler = createReconciler();
    await reconciler.runOnce();
    expect(cluster.requests.length).toBe(1);
    await setQuota(null);
    await reconciler.runOnce();
    expect(cluster.requests.length).toBe(3);
  });

  test('needs no worker once others serve it, and a job that nobody needs is removed after the idle time', async () => {
    const runs = await createRuns(3);
    const reconciler = createReconciler();
    await reconciler.runOnce();
    const name = cluster.set('1', { state: 'running' });
    await register(name);
    await reconciler.runOnce();
    expect((await readJobs()).map(({ worker_seen_at }) => worker_seen_at !== null)).toEqual([true, false]);
    for (const run of runs.slice(1)) await server.request('PATCH', `/v1/applications/app/runs/${run}/cancel`);
    await reconciler.runOnce();
    clock.advance(IDLE_MS);
    await register(name);
    await reconciler.runOnce();
    expect(cluster.stops).toEqual([['2', false]]);
    cluster.jobs.delete('2');
    cluster.set('1', { state: 'ended' });
    await deregisterWorker(server.runningServer.database, buildWorker(name).id);
    await server.request('PATCH', `/v1/applications/app/runs/${runs[0]}/cancel`);
    // The grace begins with the first list without the job.
    await reconciler.runOnce();
    clock.advance(MISSING_GRACE_MS);
    await reconciler.runOnce();
    expect(await readJobs()).toEqual([]);
    expect(await readRow()).toMatchObject({ failures: 0, failed_starts: 0, last_error: null });
  });
});

describe('a server that was killed', () => {
  test('before it knew the id finds the job by its name', async () => {
    await createRuns(1);
    cluster.startError = 'the connection broke';
    cluster.losesResponses = true;
    await createReconciler().runOnce();
    cluster.startError = null;
    clock.advance(600_000);
    await createReconciler().runOnce();
    expect(cluster.requests.length).toBe(1);
    expect(await readJobs()).toMatchObject([{ id: '1', name: cluster.requests[0]?.name }]);
  });

  test('leaves no row of a job that it never submitted', async () => {
    await createRuns(1);
    const reconciler = createReconciler();
    await reconciler.runOnce();
    cluster.jobs.clear();
    await server.runningServer.database.transact((tx) =>
      tx.updateTable('worker_jobs').set({ id: null }).execute(),
    );
    await createReconciler().runOnce();
    clock.advance(MISSING_GRACE_MS);
    await createReconciler().runOnce();
    expect(cluster.requests.length).toBe(2);
    expect(await readRow()).toMatchObject({ failed_starts: 0 });
  });
});

describe('a cluster that fails', () => {
  test('is asked less and less often for one worker, until it registers', async () => {
    await createRuns(6);
    const reconciler = createReconciler();
    cluster.startError = 'sbatch ended with status 1: invalid partition';
    await reconciler.runOnce();
    expect(await readRow()).toMatchObject({
      ...{ failures: 1, failed_starts: 3, retry_at: clock.now() + 5000 },
      ...{ last_error: cluster.startError, last_error_at: clock.now() },
    });
    await reconciler.runOnce();
    clock.advance(5000);
    await reconciler.runOnce();
    expect(await readRow()).toMatchObject({ failures: 2, failed_starts: 4, retry_at: clock.now() + 10_000 });
    cluster.startError = null;
    clock.advance(10_000);
    await reconciler.runOnce();
    await reconciler.runOnce();
    expect(cluster.requests.length).toBe(1);
    await register(cluster.set('1', { state: 'running' }));
    await reconciler.runOnce();
    expect(cluster.requests.length).toBe(3);
    expect(await readRow()).toMatchObject({
      failures: 0,
      failed_starts: 4,
      last_error: null,
      retry_at: null,
    });
  });

  test('and does not list its jobs gets no further one, and is asked again after the back-off', async () => {
    await createRuns(2);
    const reconciler = createReconciler();
    cluster.listError = 'squeue cannot reach the controller';
    await reconciler.runOnce();
    await reconciler.runOnce();
    expect(cluster.requests).toEqual([]);
    expect(await readRow()).toMatchObject({ failures: 1, failed_starts: 0, last_error: cluster.listError });
    clock.advance(5000);
    await reconciler.runOnce();
    expect(await readRow()).toMatchObject({ failures: 2, retry_at: clock.now() + 10_000 });
    cluster.listError = null;
    clock.advance(10_000);
    await reconciler.runOnce();
    expect(cluster.requests.length).toBe(1);
    expect(await readRow()).toMatchObject({ failures: 0, last_error: null, retry_at: null });
  });

  test('W4: that lists no job during an outage has no failed start, and last_error tells the outage', async () => {
    await createRuns(2);
    const reconciler = createReconciler();
    await reconciler.runOnce();
    const [job] = [...cluster.jobs.values()];
    clock.advance(10 * MISSING_GRACE_MS);
    await reconciler.runOnce();
    // The scheduler starts again: one answer is empty, and then it does not answer for longer than the grace.
    cluster.jobs.clear();
    await reconciler.runOnce();
    cluster.listError = 'squeue --json reported an error: Unable to contact slurm controller.';
    for (let passed = 0; passed <= 2 * MISSING_GRACE_MS; passed += 10_000) {
      clock.advance(10_000);
      await reconciler.runOnce();
    }
    expect(await readRow()).toMatchObject({ failed_starts: 0, last_error: cluster.listError });
    expect(await readJobs()).toMatchObject([{ name: job?.name, missing_since: null }]);
    cluster.listError = null;
    clock.advance(5 * MISSING_GRACE_MS);
    await reconciler.runOnce();
    expect(await readRow()).toMatchObject({ failed_starts: 0, last_error: null });
    expect(await readJobs()).toMatchObject([{ name: job?.name, missing_since: clock.now() }]);
    // All lists of the grace lack the job: it is gone.
    clock.advance(MISSING_GRACE_MS);
    await reconciler.runOnce();
    expect((await readRow()).failed_starts).toBe(1);
  });

  test('with a job that ends before its worker registers has a failed start', async () => {
    await createRuns(2);
    const reconciler = createReconciler();
    await reconciler.runOnce();
    cluster.set('1', { state: 'ended', failure: 'exit code 127' });
    await reconciler.runOnce();
    expect(cluster.requests.length).toBe(1);
    const state = await readRow();
    expect(state).toMatchObject({ failures: 1, failed_starts: 1 });
    expect(state.last_error).toContain('exit code 127');
  });

  test('with a job whose worker never registers stops it, in the end by force', async () => {
    await createRuns(2);
    const reconciler = createReconciler();
    await reconciler.runOnce();
    cluster.set('1', { state: 'running' });
    // More often than the pause after which nothing counts against a job.
    for (let passed = 0; passed <= REGISTRATION_TIMEOUT_MS; passed += 20_000) {
      await reconciler.runOnce();
      clock.advance(20_000);
    }
    await reconciler.runOnce();
    expect(cluster.stops).toEqual([['1', false]]);
    expect(await readRow()).toMatchObject({ failed_starts: 1 });
    expect((await readRow()).last_error).toContain('https://yard.example');
    clock.advance(60_000);
    await reconciler.runOnce();
    expect(cluster.stops).toEqual([
      ['1', false],
      ['1', true],
    ]);
    expect(await readRow()).toMatchObject({ failed_starts: 1 });
  });
});

describe('jobs that wait in the cluster', () => {
  const readReasons = async () => groupPendingReasons(await readJobs());
  const wait = (id: string, text: string, isBlocked: boolean) =>
    cluster.set(id, { state: 'pending', pending: { text, isBlocked } });

  test('for their turn have a reason, and are no failure', async () => {
    await createRuns(6);
    const reconciler = createReconciler();
    await reconciler.runOnce();
    for (const id of ['1', '2', '3']) wait(id, `Unschedulable: pod ${id} fits no node`, false);
    for (let passed = 0; passed <= BLOCKED_TIMEOUT_MS; passed += 60_000) {
      await reconciler.runOnce();
      clock.advance(60_000);
    }
    expect(cluster.stops).toEqual([]);
    expect(await readRow()).toMatchObject({ failures: 0, last_error: null });
    expect(await readReasons()).toMatchObject([{ jobs: 3, isBlocked: false }]);
  });

  test('and cannot start are stopped after three minutes, as one step of the back-off', async () => {
    await createRuns(4);
    const reconciler = createReconciler();
    await reconciler.runOnce();
    await createRuns(2);
    for (const id of ['1', '2']) wait(id, 'ImagePullBackOff: no such image', true);
    await reconciler.runOnce();
    expect(await readReasons()).toMatchObject([{ jobs: 2, isBlocked: true }]);
    // Another job would meet the same fate.
    expect(cluster.requests.length).toBe(2);
    clock.advance(BLOCKED_TIMEOUT_MS);
    await reconciler.runOnce();
    expect(cluster.stops.toSorted()).toEqual([
      ['1', false],
      ['2', false],
    ]);
    expect(cluster.requests.length).toBe(2);
    const state = await readRow();
    expect(state).toMatchObject({ failures: 1, failed_starts: 2, retry_at: clock.now() + 5000 });
    expect(state.last_error).toContain('ImagePullBackOff: no such image');
    expect(await readReasons()).toEqual([]);
    cluster.jobs.clear();
    clock.advance(60_000);
    await reconciler.runOnce();
    expect(cluster.requests.length).toBe(3);
  });
});

describe('runs with requirements', () => {
  const require = (columns: { required_labels?: string; required_licenses?: string }) =>
    server.runningServer.database.transact((tx) =>
      tx.updateTable('runs').set(columns).where('status', '=', 'queued').execute(),
    );

  test('start workers for as many of them as have a licence token', async () => {
    await server.client.call('setLicenses', { body: { licenses: [{ name: 'gurobi', total: 5 }] } });
    await createRuns(8);
    await require({ required_licenses: '{"gurobi":2}' });
    await createReconciler().runOnce();
    // Two runs have their tokens, and fill one worker.
    expect(cluster.requests.length).toBe(1);
    await server.client.call('setLicenses', { body: { licenses: [] } });
  });

  test('start workers that have the labels', async () => {
    await createRuns(1);
    await require({ required_labels: wrapLabel('gpu') });
    await createReconciler().runOnce();
    expect(cluster.requests.length).toBe(1);
  });

  test('start none without them, and are counted', async () => {
    await createRuns(2);
    await require({ required_labels: wrapLabel('gpu') + wrapLabel('fpga') });
    await createReconciler().runOnce();
    expect(cluster.requests).toEqual([]);
    expect(await readRow()).toMatchObject({ unservable_runs: 2 });
  });
});

test('runs that no worker could take are counted, and start none', async () => {
  const body = { configuration: { execution_class: '8c16gb12h' } };
  await Promise.all([createRun(server, 'app', { body }), createRun(server, 'app', { body })]);
  const adapter = {
    kind: 'command',
    start: '',
    list: '',
    stop: '',
    size: { cores: 4, memoryBytes: 64e9 },
  } as const;
  await createReconciler({ adapter }).runOnce();
  expect(cluster.requests).toEqual([]);
  expect(await readRow()).toMatchObject({ unservable_runs: 2 });
});
