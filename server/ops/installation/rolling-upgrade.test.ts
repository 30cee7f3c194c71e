/** An upgrade from an earlier commit, one process after the other, while requests go to servers of both. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createRun, type Files, pushApp } from '../../testing/fixtures/apps.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import {
  listWrongEnds,
  startCreateLoad,
  waitForEmptyQueue,
} from '../../testing/load/acknowledged-creates.ts';
import { type Balancer, startBalancer } from '../../testing/servers/balancer.ts';
import {
  type EarlierRelease,
  extractRelease,
  findEarlierCommit,
} from '../../testing/servers/earlier-release.ts';
import { type ServerCluster, startServerCluster } from '../../testing/servers/server-cluster.ts';
import type { ServerProcess } from '../../testing/servers/server-process.ts';
import { migrations } from '../migrations.ts';

const postgres = inject('postgres');
const commit = postgres ? findEarlierCommit() : null;
const APP: Files = { main: '#!/bin/sh\nprintf "{}"\n' };

let balancer: Balancer;
let cluster: ServerCluster;
let earlier: EarlierRelease;

beforeAll(async () => {
  if (commit === null) return;
  earlier = extractRelease(commit);
  balancer = await startBalancer();
  const settings = { publicUrl: balancer.url, isEmpty: true };
  cluster = await startServerCluster(postgres, `upgrade_${process.pid}`, settings);
});
afterAll(async () => {
  await cluster?.close();
  await balancer?.close();
  earlier?.[Symbol.dispose]();
});

/** Stops the process as an operator does: the balancer sends it no more connections, and it ends its requests. */
async function replace(before: ServerProcess, others: readonly string[]): Promise<ServerProcess> {
  balancer.use(others);
  expect(await before.kill('SIGTERM')).toBe(0);
  const after = await cluster.start('server');
  balancer.use([...others, after.url]);
  return after;
}

const readMigrations = async (): Promise<number> =>
  (await cluster.query<{ count: number }>('select count(*)::int as count from migrations'))[0]?.count ?? 0;

// Without the history of the repository there is no earlier commit, and the title of the skipped test says so.
test.runIf(commit !== null)(
  `a rolling upgrade from an earlier commit (${commit ?? 'none: the history is missing'}) refuses no request`,
  async () => {
    const first = await cluster.start('server', { main: earlier.main });
    const second = await cluster.start('server', { main: earlier.main });
    const worker = await cluster.start('worker', { main: earlier.main });
    balancer.use([first.url, second.url]);
    await pushApp(first, 'app', APP, { executable_type: 'binary', runtime: 'native' });
    const { token } = first;
    const load = startCreateLoad({ url: balancer.url, token, application: 'app', clients: 2 });
    const created = (count: number) =>
      waitUntil('more runs are created', () => load.acknowledged.length >= count || load.refused.length > 0);
    await created(20);

    const upgraded = await replace(first, [second.url]);
    // From here on, the server of the earlier commit works on the tables of this one.
    expect(await readMigrations()).toBe(migrations.length);
    await created(load.acknowledged.length + 40);
    for (const server of [upgraded, second]) await createRun(server, 'app', { input: {} });
    await replace(second, [upgraded.url]);
    await created(load.acknowledged.length + 20);
    expect(await worker.kill('SIGTERM')).toBe(0);
    await cluster.start('worker');
    await load.stop();

    expect(load.refused).toEqual([]);
    await waitForEmptyQueue(cluster);
    expect(await listWrongEnds(cluster, load.acknowledged)).toEqual({ repeated: [], lost: [] });
  },
);
