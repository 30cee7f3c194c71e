/** Two processes on one PostgreSQL: what is planned is made once, limits stay exact, and one test has a baseline. */
import { afterEach, expect, inject, test } from 'vitest';
import { createRun } from '../testing/fixtures/apps.ts';
import { COMPARISON, createOnlineTestApp } from '../testing/fixtures/online-tests.ts';
import { expectStatus } from '../testing/fixtures/resources.ts';
import { waitUntil } from '../testing/host/wait-until.ts';
import { type ServerCluster, startServerCluster } from '../testing/servers/server-cluster.ts';
import type { ServerProcess } from '../testing/servers/server-process.ts';

const postgres = inject('postgres');
const EXPERIMENTS = '/v1/applications/app/experiments';
let several: ServerCluster | undefined;

afterEach(async () => {
  await several?.close();
  several = undefined;
});

test.runIf(postgres)(
  'two servers share the work of experiments, and nothing is done twice',
  async () => {
    several = await startServerCluster(postgres, `experiments_${process.pid}`);
    const { query } = several;
    // There is no worker: what is made stays queued.
    const first = await several.start('server');
    const both = [first, await several.start('server')];
    const post = async (server: ServerProcess, path: string, body: object) =>
      expectStatus(await server.request('POST', `${EXPERIMENTS}/${path}`, { body }), 201);
    await createOnlineTestApp(first);
    const make = (server: ServerProcess) =>
      createRun(server, 'app', { instance: 'baseline', input: { cost: 1 } });
    await post(first, 'inputsets', { id: 'inputs', name: 'Inputs', run_ids: [await make(first)] });

    const batch = { input_set_id: 'inputs', instance_ids: ['baseline', 'candidate'], repetitions: 20 };
    await Promise.all(
      both.map((server, at) => post(server, 'batch', { ...batch, id: `batch-${at}`, name: 'Batch' })),
    );
    await waitUntil(
      'nothing is planned',
      async () => (await query('select 1 from planned_runs')).length === 0,
    );
    const cells = await query<{ made: string; cells: string }>(
      `select count(*) as made, count(distinct (instance_id, labels)) as cells
     from runs where experiment_type = 'batch' group by experiment_id`,
    );
    expect(cells).toEqual(new Array(2).fill({ made: '40', cells: '40' }));

    const shadow = { name: 'Shadow', comparison: COMPARISON, termination_events: { maximum_runs: 20 } };
    const ids = ['one', 'two'];
    for (const id of ids) await post(first, 'shadow', { ...shadow, id });
    const move = (server: ServerProcess | undefined, id: string, method: 'PUT' | 'DELETE', to = '') =>
      server?.request(method, `${EXPERIMENTS}/shadow/${id}${to}`);
    for (let round = 0; ; round += 1) {
      const answers = await Promise.all(ids.map((id, at) => move(both[at], id, 'PUT', '/start')));
      expect(answers.map((answer) => answer?.status).sort()).toEqual([204, 400]);
      if (round === 4) break;
      const winner = ids[answers.findIndex((answer) => answer?.status === 204)] ?? '';
      expect((await move(first, winner, 'DELETE'))?.status).toBe(204);
      await post(first, 'shadow', { ...shadow, id: winner });
    }
    await Promise.all(Array.from({ length: 40 }, (_, at) => make(both[at % 2] ?? first)));
    await waitUntil('the test has let go of its baseline, and its copies are made', async () => {
      const left = await query(
        `select 1 from run_routes union all select 1 from captured_runs union all select 1 from planned_runs`,
      );
      return left.length === 0;
    });
    const copies = await query<{ made: string; originals: string }>(
      `select count(*) as made, count(distinct parent_run_id) as originals
     from runs where experiment_type = 'shadow'`,
    );
    expect(copies).toEqual([{ made: '20', originals: '20' }]);
  },
  120_000,
);
