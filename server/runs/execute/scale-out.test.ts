/** Several processes on one PostgreSQL and one object store: a server that accepts runs, and workers, one of which is killed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LEASE_DURATION_MS } from '@switchyard/contract/limits.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { afterEach, expect, inject, test } from 'vitest';
import { createRun, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { listRunningApps } from '../../testing/host/processes.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { type ServerCluster, startServerCluster } from '../../testing/servers/server-cluster.ts';
import { type ServerProcess, startServerProcess } from '../../testing/servers/server-process.ts';

const postgres = inject('postgres');
let several: ServerCluster | undefined;

afterEach(async () => {
  await several?.close();
  several = undefined;
});

/** The database of these processes alone. */
async function prepare(): Promise<ServerCluster['start']> {
  several = await startServerCluster(postgres, `scale_out_${process.pid}`);
  return several.start;
}

/** The runs whose apps are children of the process. */
const listActiveRuns = (server: ServerProcess): Set<string> => {
  const below = new Set(server.listAppPids());
  return new Set([...listRunningApps()].filter(([pid]) => below.has(pid)).map(([, run]) => run));
};

function ended(server: ServerProcess, run: string) {
  return waitUntil(`the end of ${run}`, async () => {
    const { body } = await server.client.call('getRun', { params: { application_id: 'app', run_id: run } });
    return isTerminal(body.status_v2) ? body : null;
  });
}

test.runIf(postgres)(
  'workers share the runs of a server but for a drained one, and a killed worker loses its runs to the other',
  async () => {
    const start = await prepare();
    const server = await start('server');
    const [killed, other] = [await start('worker'), await start('worker')];
    await pushApp(
      server,
      'app',
      nodeApp(
        '(input) => new Promise((resolve) => setTimeout(() => resolve({ twice: 2 * input.n }), input.ms))',
      ),
    );
    const [first] = (await server.client.call('getWorkers')).body.items;
    const drain = `/v1/account/workers/${first?.id}/drain`;
    expect((await server.request('POST', drain)).status).toBe(200);
    const runs: string[] = [];
    for (let n = 0; n < 4; n += 1) runs.push(await createRun(server, 'app', { input: { n, ms: 3000 } }));
    const listRuns = async () =>
      (await server.client.call('getWorkers')).body.items.map((worker) => [
        worker.status,
        worker.runs.map((run) => run.run_id),
      ]);
    await waitUntil('the other worker has two', () => listActiveRuns(other).size === 2);
    expect(await listRuns()).toEqual([
      ['draining', []],
      ['active', runs.slice(0, 2)],
    ]);
    expect((await server.request('DELETE', drain)).status).toBe(200);
    await waitUntil(
      'each worker has two',
      () => listActiveRuns(killed).size === 2 && listActiveRuns(other).size === 2,
    );
    const moved = listActiveRuns(killed);
    await killed.kill();
    await waitUntil('the apps of the killed worker are gone', () =>
      [...listRunningApps().values()].every((run) => !moved.has(run)),
    );
    // Its last heartbeat is made as old as it will be when the lease has run out.
    await several?.query(
      `update workers set heartbeat_at = heartbeat_at - ${LEASE_DURATION_MS} where id in
     (select worker_id from runs where id = any($1))`,
      [[...moved]],
    );
    for (const [n, run] of runs.entries()) {
      const found = await ended(server, run);
      expect(found).toMatchObject({ status_v2: 'succeeded', output: { twice: 2 * n } });
      expect(found.metadata.attempt).toBe(moved.has(run) ? 2 : 1);
    }
  },
);

test.runIf(postgres)(
  'a server without workers takes runs, and one that may not wait is refused',
  async () => {
    const start = await prepare();
    const server = await start('server');
    await pushApp(server, 'app', nodeApp('() => ({})'));
    const run = await createRun(server, 'app', {});
    const { body } = await server.client.call('getRun', { params: { application_id: 'app', run_id: run } });
    expect(body.status_v2).toBe('queued');
    const refused = await server.request('POST', '/v1/applications/app/runs', {
      body: { configuration: { queuing: { disabled: true } } },
    });
    expect(refused.status).toBe(429);
    await start('worker');
    expect(await ended(server, run)).toMatchObject({ status_v2: 'succeeded' });
  },
);

test('a second server on the same data folder does not start, and reports the reason', async () => {
  const data = mkdtempSync(join(tmpdir(), 'switchyard-second-'));
  const first = await startServerProcess({ dataFolder: data });
  try {
    await expect(startServerProcess({ dataFolder: data })).rejects.toThrow(
      `The data folder ${data} is in use by another server`,
    );
  } finally {
    await first.kill();
    rmSync(data, { recursive: true, force: true });
  }
});
