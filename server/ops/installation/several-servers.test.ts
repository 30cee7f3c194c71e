/** Two server processes behind one address are one service, also when one of them is killed. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createRun, type Files, pushApp } from '../../testing/fixtures/apps.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { listLines, openStream, type StreamedEvent } from '../../testing/http/event-streams.ts';
import {
  listWrongEnds,
  startCreateLoad,
  waitForEmptyQueue,
} from '../../testing/load/acknowledged-creates.ts';
import { type Balancer, startBalancer } from '../../testing/servers/balancer.ts';
import { type ServerCluster, startServerCluster } from '../../testing/servers/server-cluster.ts';
import type { ServerProcess } from '../../testing/servers/server-process.ts';
import {
  createWorkerToken,
  startWorkerProcess,
  type WorkerProcess,
} from '../../testing/servers/worker-process.ts';

const postgres = inject('postgres');
/** Five times the lease of the leader: a machine with other load took 5.3 s. */
const FAILOVER_MS = 15_000;
const LINES = 60;
/** Prints a line every 50 ms if its input has `slow`, and nothing otherwise. */
const APP: Files = {
  main: `#!/bin/sh
IFS= read -r line
case $line in *slow*) n=0; while [ $n -lt ${LINES} ]; do echo "line $n" >&2; n=$((n + 1)); sleep 0.05; done;; esac
printf '{}'
`,
};

let balancer: Balancer;
let cluster: ServerCluster;
let one: ServerProcess;
let other: ServerProcess;
/** Reaches the servers through the balancer alone. */
let worker: WorkerProcess;

beforeAll(async () => {
  if (!postgres) return;
  balancer = await startBalancer();
  cluster = await startServerCluster(postgres, `several_${process.pid}`, { publicUrl: balancer.url });
  one = await cluster.start('server');
  other = await cluster.start('server');
  balancer.use([one.url, other.url]);
  const token = await createWorkerToken(one);
  worker = startWorkerProcess(balancer.url, token.token, ['--slots', '4']);
  await worker.waitForLine('Worker registered');
  await pushApp(one, 'app', APP, { executable_type: 'binary', runtime: 'native' });
});
afterAll(async () => {
  await worker?.kill();
  await cluster?.close();
  await balancer?.close();
});

const readLeads = async (server: ServerProcess): Promise<unknown> =>
  ((await server.request('GET', '/readyz')).body as { leads: unknown }).leads;

async function readLeaderMetric(server: ServerProcess): Promise<string | undefined> {
  const { text } = await server.request('GET', '/metrics');
  return /^switchyard_leader (\d)$/m.exec(text)?.[1];
}

const listClaimedRuns = async (): Promise<string[]> =>
  (await cluster.query<{ id: string }>('select id from runs where attempt > 0')).map(({ id }) => id);

/** Reads the stream of a run to its end through the balancer, like a browser: it connects again after its last event. */
async function followRun(run: string, token: string) {
  const events: StreamedEvent[] = [];
  let interruptions = 0;
  let longestGapMs = 0;
  for (let brokenAt: number | null = null; ; ) {
    const path = `/v1/applications/app/runs/${run}/events`;
    const stream = await openStream({ url: balancer.url, token }, path, events.at(-1)?.id).catch(() => null);
    if (stream === null) continue;
    if (stream.status === 204) return { events, interruptions, longestGapMs };
    for (let event = await stream.next(); event; event = await stream.next()) {
      if (brokenAt !== null) longestGapMs = Math.max(longestGapMs, performance.now() - brokenAt);
      brokenAt = null;
      events.push(event);
    }
    await stream.close();
    brokenAt ??= performance.now();
    interruptions += 1;
  }
}

describe.runIf(postgres)('two servers are one service', () => {
  test('one of them leads, and both report it', async () => {
    expect([await readLeads(one), await readLeads(other)]).toEqual([true, false]);
    expect([await readLeaderMetric(one), await readLeaderMetric(other)]).toEqual(['1', '0']);
  });

  test('an Idempotency-Key counts on both', async () => {
    const create = (server: ServerProcess, key: string) =>
      server.request('POST', '/v1/applications/app/runs', {
        body: { input: {} },
        headers: { 'idempotency-key': key },
      });
    const key = randomUUID();
    const [first, second] = [await create(one, key), await create(other, key)];
    expectStatus(first, 202);
    expect(second.body).toEqual(first.body);
    const both = randomUUID();
    const responses = await Promise.all([one, other, one, other].map((server) => create(server, both)));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
  });

  test('an upload in parts continues on the other', async () => {
    const { body } = await one.client.call('createRunUpload', { params: { application_id: 'app' } });
    const { pathname, search } = new URL(body.upload_url);
    const sendPart = (server: ServerProcess, part: string, offset: number, complete: string) =>
      server.request('PATCH', pathname + search, {
        token: null,
        body: part,
        headers: { 'upload-offset': String(offset), 'upload-complete': complete },
      });
    expectStatus(await sendPart(one, '{"from":', 0, '?0'), 204);
    const { headers } = await other.request('HEAD', pathname + search, { token: null });
    expect(headers.get('upload-offset')).toBe('8');
    expectStatus(await sendPart(other, '"two"}', 8, '?1'), 200);
    const run = await createRun(one, 'app', { body: { upload_id: body.upload_id } });
    const path = `/v1/applications/app/runs/${run}/input`;
    expect((await other.request('GET', path)).body).toEqual({ from: 'two' });
  });

  test('a sign-in link, its session and its end hold on both', async () => {
    const headers = { 'x-switchyard-console': '1', origin: balancer.url };
    const link = await one.request('POST', '/v1/account/sign-in-links');
    const ticket = new URL((link.body as { url: string }).url).searchParams.get('ticket');
    const signedIn = await other.request('POST', '/v1/account/sessions', {
      token: null,
      body: { ticket },
      headers,
    });
    expectStatus(signedIn, 201);
    const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const request = (server: ServerProcess, method: string, path: string) =>
      server.request(method, path, { token: null, headers: { cookie, ...headers } });
    expectStatus(await request(one, 'GET', '/v1/account'), 200);
    expectStatus(await request(one, 'DELETE', '/v1/account/sessions/current'), 204);
    expectStatus(await request(other, 'GET', '/v1/account'), 401);
    // A link signs in once, whichever server it comes to.
    const again = await one.request('POST', '/v1/account/sessions', {
      token: null,
      body: { ticket },
      headers,
    });
    expectStatus(again, 401);
  });

  test('a share link and its revocation hold on both', async () => {
    const run = await createRun(one, 'app', { input: {} });
    const path = `/v1/applications/app/runs/${run}/shares`;
    const share = await one.request('POST', path, { body: { parts: ['summary'] } });
    expectStatus(share, 201);
    const { id, url } = share.body as { id: string; url: string };
    const shared = `/v1/shared/${new URL(url).pathname.split('/').at(-1)}`;
    expectStatus(await other.request('GET', shared, { token: null }), 200);
    expectStatus(await other.request('DELETE', `${path}/${id}`), 204);
    expectStatus(await one.request('GET', shared, { token: null }), 404);
  });

  test('a revoked key is refused on both', async () => {
    const { body } = await one.client.call('createKey', { body: { name: 'revoked', role: 'viewer' } });
    const read = (server: ServerProcess) => server.request('GET', '/v1/account', { token: body.token });
    expectStatus(await read(one), 200);
    expectStatus(await read(other), 200);
    expectStatus(await one.request('DELETE', `/v1/account/keys/${body.id}`), 204);
    expectStatus(await read(other), 401);
  });

  test('a signed upload URL is accepted by both, and pages of a list continue on the other', async () => {
    const upload = await one.request('POST', '/v1/applications/app/runs/uploadurl');
    const { upload_url } = upload.body as { upload_url: string };
    expect(upload_url).toContain(balancer.url);
    const put = await other.request('PUT', upload_url.replace(balancer.url, ''), {
      token: null,
      body: '{}',
    });
    expectStatus(put, 200);
    await createRun(one, 'app', { input: {} });
    const path = '/v1/applications/app/runs?limit=1&pagereturn=true';
    type Page = { next_page_token: string; items: { id: string }[] };
    const first = (await one.request('GET', path)).body as Page;
    const second = await other.request('GET', `${path}&pagetoken=${first.next_page_token}`);
    expectStatus(second, 200);
    expect((second.body as Page).items[0]?.id).not.toBe(first.items[0]?.id);
  });

  test('an operation on the server that does not lead wakes the job on the one that leads', async () => {
    await other.client.call('createApplication', { body: { id: 'deleted', name: 'Deleted' } });
    expectStatus(await other.request('DELETE', '/v1/applications/deleted'), 204);
    await waitUntil(
      'its row is removed',
      async () => (await cluster.query("select 1 from applications where id = 'deleted'")).length === 0,
    );
  });

  test('a stream of an account continues on the other server', async () => {
    const path = '/v1/account/events';
    const first = await openStream(one, path);
    const last = await first.next();
    await first.close();
    const run = await createRun(other, 'app', { input: {} });
    const second = await openStream(other, path, last?.id);
    const changes: unknown[] = [];
    for (let event = await second.next(); event; event = await second.next()) {
      if (event.event !== 'runs') continue;
      changes.push(
        ...(event.data.changes as { run_id: string; status_v2: string }[])
          .filter((change) => change.run_id === run)
          .map(({ status_v2 }) => status_v2),
      );
      if (changes.includes('succeeded')) break;
    }
    await second.close();
    // A change that a later one of the same run follows may be left out, but none comes twice.
    expect(changes.at(-1)).toBe('succeeded');
    expect(new Set(changes).size).toBe(changes.length);
  });
});

test.runIf(postgres)(
  'a killed server loses no acknowledged request, and the other one leads and soon has its streams and workers',
  async () => {
    const { token } = one;
    const followed = [0, 1].map(async () =>
      followRun(await createRun(one, 'app', { input: { slow: true } }), token),
    );
    const load = startCreateLoad({ url: balancer.url, token, application: 'app', clients: 2 });
    await waitUntil('both servers have created runs', () => load.acknowledged.length > 20);
    const count = load.acknowledged.length;
    const killedAt = performance.now();
    await one.kill('SIGKILL');
    await waitUntil('the other server leads', async () => (await readLeads(other)) === true);
    expect(performance.now() - killedAt).toBeLessThan(FAILOVER_MS);
    expect(load.acknowledged.length).toBeGreaterThan(count);
    const claimed = new Set(await listClaimedRuns());
    await waitUntil('the worker gets a run from the other server', async () =>
      (await listClaimedRuns()).some((run) => !claimed.has(run)),
    );
    expect(performance.now() - killedAt).toBeLessThan(FAILOVER_MS);
    await load.stop();
    for (const { events, longestGapMs } of await Promise.all(followed)) {
      expect(listLines(events)).toEqual(Array.from({ length: LINES }, (_, n) => `line ${n}`));
      expect(events.at(-1)).toMatchObject({ event: 'status', data: { status_v2: 'succeeded' } });
      expect(longestGapMs).toBeLessThan(FAILOVER_MS);
    }
    expect(load.refused).toEqual([]);
    // No run was lost with a server, so none had to begin again.
    expect(await cluster.query('select 1 from runs where attempt > 1')).toEqual([]);
    await waitForEmptyQueue(cluster);
    expect(await listWrongEnds(cluster, load.acknowledged)).toEqual({ repeated: [], lost: [] });
    expect(new Set(load.acknowledged).size).toBe(load.acknowledged.length);
  },
);
