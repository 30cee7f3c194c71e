/** A server with real workers on a real Slurm cluster: a batch of runs brings them up, and they leave by themselves. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Provisioner } from '@switchyard/contract/workers/provisioner.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, pushApp } from '../../testing/fixtures/apps.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { findSlurmProblem, type SlurmCluster, startSlurmCluster } from '../../testing/slurm/slurm-cluster.ts';

const RUNS = 24;
const SHELL = { executable_type: 'binary', runtime: 'binary', entrypoint: 'main.sh' } as const;
const problem = await findSlurmProblem();

// Its daemons run as root, on Debian and Ubuntu; the reason of a skip goes to standard error.
describe.skipIf(problem !== null)('on a Slurm cluster', () => {
  let cluster: SlurmCluster;
  let server: TestServer;

  beforeAll(async () => {
    cluster = await startSlurmCluster({ nodes: 2, cores: 2, memoryMb: 1000 });
    server = await startTestServer({
      env: {
        PATH: process.env.PATH ?? '',
        SLURM_CONF: cluster.env.SLURM_CONF ?? '',
        SWITCHYARD_CAPACITY: '0',
        SWITCHYARD_PROVISIONER: 'slurm',
        SWITCHYARD_PROVISIONER_MAX: '3',
        SWITCHYARD_PROVISIONER_IDLE: '2',
        SWITCHYARD_SLURM_ARGS: '--cpus-per-task=2',
      },
    });
    await pushApp(server, 'app', { 'main.sh': '#!/bin/sh\necho "{}"\n' }, SHELL);
  });
  afterAll(async () => {
    await server?.close();
    await cluster?.close();
  });

  const readProvisioner = async (): Promise<Provisioner> => (await server.client.call('getProvisioner')).body;
  const createRuns = (count: number): Promise<RunId[]> =>
    Promise.all(Array.from({ length: count }, async () => (await createRun(server, 'app')) as RunId));

  /** Resolves once every run has ended, and returns the ends by status. */
  async function countEnds(runs: readonly RunId[]): Promise<[string, number][]> {
    return server.waitUntil('runs-ended', async () => {
      const events = await server.runningServer.database.read
        .selectFrom('run_events')
        .select((eb) => ['status', eb.fn.countAll().as('count')])
        .where('run_id', 'in', runs)
        .where('status', 'in', ['succeeded', 'failed', 'canceled'])
        .groupBy('status')
        .execute();
      const ended = events.reduce((sum, { count }) => sum + Number(count), 0);
      return ended >= runs.length && events.map(({ status, count }) => [status, Number(count)]);
    });
  }

  test('workers start for queued runs, execute each once, and leave the cluster empty', async () => {
    expect(await cluster.listJobs()).toEqual([]);
    expect(await readProvisioner()).toMatchObject({ adapter: 'slurm', max_workers: 3, idle_seconds: 2 });
    const runs = await createRuns(RUNS);
    expect(await countEnds(runs)).toEqual([['succeeded', RUNS]]);
    const rows = await server.runningServer.database.read
      .selectFrom('runs')
      .select(['attempt', 'worker_id'])
      .where('id', 'in', runs)
      .execute();
    expect(rows.every(({ attempt }) => attempt === 1)).toBe(true);
    // Two nodes hold two workers; the third waited in the queue of Slurm.
    expect(new Set(rows.map(({ worker_id }) => worker_id)).size).toBeGreaterThanOrEqual(1);
    await waitUntil('the cluster is empty', async () => (await cluster.listJobs()).length === 0);
    await waitUntil('the server knows it', async () => {
      const { jobs } = await readProvisioner();
      return jobs.pending + jobs.running + jobs.stopping === 0;
    });
    expect(await readProvisioner()).toMatchObject({ failed_starts: 0, last_error: null });
    expect((await server.client.call('getWorkers')).body.items).toEqual([]);
  });

  test('a server that restarts keeps its workers, and starts no other', async () => {
    await cluster.run('scontrol', 'update', 'NodeName=n1,n2', 'State=DRAIN', 'Reason=test');
    const runs = await createRuns(2);
    const { body } = await server.client.call('getQueue', {});
    expect(body.runs[0]?.waiting).toMatchObject({ reason: 'no_worker', can_be_provisioned: true });
    const [name] = await waitUntil('a job waits', async () => {
      const jobs = await cluster.listJobs();
      return jobs.length > 0 && jobs;
    });
    // The job that waits knows the address.
    await server.restart({ SWITCHYARD_PORT: new URL(server.url).port });
    await waitUntil('the server has listed its jobs', async () => {
      const { jobs } = await readProvisioner();
      return jobs.pending === 1;
    });
    await cluster.run('scontrol', 'update', 'NodeName=n1,n2', 'State=RESUME');
    expect(await countEnds(runs)).toEqual([['succeeded', 2]]);
    expect((await cluster.listJobs()).every((job) => job === name)).toBe(true);
    await waitUntil('the cluster is empty', async () => (await cluster.listJobs()).length === 0);
    expect(await readProvisioner()).toMatchObject({ failed_starts: 0 });
  });
});
