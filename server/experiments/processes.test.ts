/** Two processes on one PostgreSQL: each planned run starts once, limits stay exact, a baseline has one test. */
import { afterEach, expect, inject, test } from 'vitest';
import { createRun } from '../testing/fixtures/apps.ts';
import { COMPARISON, createOnlineTestApp } from '../testing/fixtures/online-tests.ts';
import { expectStatus } from '../testing/fixtures/resources.ts';
import { waitUntil } from '../testing/host/wait-until.ts';
import { type ServerCluster, startServerCluster } from '../testing/servers/server-cluster.ts';
import type { ServerProcess } from '../testing/servers/server-process.ts';

const postgres = inject('postgres');
const EXPERIMENTS = '/v1/applications/app/experiments';
let cluster: ServerCluster | undefined;

afterEach(async () => {
  await cluster?.close();
  cluster = undefined;
});

test.runIf(postgres)('two servers share the work of experiments and do none of it twice', async () => {
  cluster = await startServerCluster(postgres, `experiments_${process.pid}`);
  const { query } = cluster;
  // Without a worker, every run stays queued, so the counts below do not change.
  const first = await cluster.start('server');
  const servers = [first, await cluster.start('server')];
  const post = async (server: ServerProcess, path: string, body: object) =>
    expectStatus(await server.request('POST', `${EXPERIMENTS}/${path}`, { body }), 201);
  await createOnlineTestApp(first);
  const createBaselineRun = (server: ServerProcess) =>
    createRun(server, 'app', { instance: 'baseline', input: { cost: 1 } });
  await post(first, 'inputsets', {
    id: 'inputs',
    name: 'Inputs',
    run_ids: [await createBaselineRun(first)],
  });

  const batch = { input_set_id: 'inputs', instance_ids: ['baseline', 'candidate'], repetitions: 20 };
  await Promise.all(
    servers.map((server, index) => post(server, 'batch', { ...batch, id: `batch-${index}`, name: 'Batch' })),
  );
  await waitUntil('no run is planned', async () => (await query('select 1 from planned_runs')).length === 0);
  const cells = await query<{ runs: string; cells: string }>(
    `select count(*) as runs, count(distinct (instance_id, labels)) as cells
     from runs where experiment_type = 'batch' group by experiment_id`,
  );
  expect(cells).toEqual(new Array(2).fill({ runs: '40', cells: '40' }));

  const shadow = { name: 'Shadow', comparison: COMPARISON, termination_events: { maximum_runs: 20 } };
  const ids = ['one', 'two'];
  for (const id of ids) await post(first, 'shadow', { ...shadow, id });
  const callShadowTest = (
    server: ServerProcess | undefined,
    id: string,
    method: 'PUT' | 'DELETE',
    action = '',
  ) => server?.request(method, `${EXPERIMENTS}/shadow/${id}${action}`);
  for (let round = 0; ; round += 1) {
    const responses = await Promise.all(
      ids.map((id, index) => callShadowTest(servers[index], id, 'PUT', '/start')),
    );
    expect(responses.map((response) => response?.status).sort()).toEqual([204, 400]);
    if (round === 4) break;
    const winner = ids[responses.findIndex((response) => response?.status === 204)] ?? '';
    expect((await callShadowTest(first, winner, 'DELETE'))?.status).toBe(204);
    await post(first, 'shadow', { ...shadow, id: winner });
  }
  await Promise.all(Array.from({ length: 40 }, (_, index) => createBaselineRun(servers[index % 2] ?? first)));
  await waitUntil('the test has released its baseline, and every copy is created', async () => {
    const remaining = await query(
      `select 1 from run_routes union all select 1 from captured_runs union all select 1 from planned_runs`,
    );
    return remaining.length === 0;
  });
  const copies = await query<{ runs: string; originals: string }>(
    `select count(*) as runs, count(distinct parent_run_id) as originals
     from runs where experiment_type = 'shadow'`,
  );
  expect(copies).toEqual([{ runs: '20', originals: '20' }]);
});
