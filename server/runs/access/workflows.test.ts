/** Runs whose apps use the API with their run token: what they reach, their child runs, and their slots. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun, pushApp, waitForLogLine, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import {
  type AppRequest,
  type CallingInput,
  createCallingRun,
  pushCallingApp,
} from '../../testing/fixtures/workflows/calling-app.ts';
import { findProcessesByCommand, killProcess, listChildren } from '../../testing/host/processes.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { sendRequest } from '../../testing/http/request.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

/** Prints its input as its solution; with an input that contains "wait" it waits first. */
const LEAF = {
  'main.sh':
    '#!/bin/sh\ninput=$(cat)\ncase "$input" in *wait*) exec sleep 60;; esac\necho "{\\"solution\\": $input}"\n',
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' } });
  for (const id of ['leaf', 'stranger'])
    await pushApp(server, id, LEAF, { executable_type: 'binary', entrypoint: 'main.sh' });
  await pushCallingApp(server, 'parent', ['leaf', 'parent']);
});
afterAll(() => server.close());

const LEAF_RUNS = '/v1/applications/leaf/runs';
const create = (value: number | string, path = LEAF_RUNS): AppRequest => ({
  method: 'POST',
  path,
  body: { input: { value }, name: `step ${value}` },
});

interface Solution {
  responses: { status: number; body: Record<string, string> }[];
  outputs: { solution: { value: number } }[];
  found?: number;
}

async function call(input: CallingInput): Promise<Solution & { id: string }> {
  const id = await createCallingRun(server, 'parent', input);
  const run = await waitForRunEnd(server, 'parent', id);
  expect(run.metadata.error).toBe('');
  const { solution }: { solution?: Solution } = Object(run.output);
  if (!solution) throw new Error('The run has no solution.');
  return { id, ...solution };
}

async function readLog(id: string): Promise<string> {
  const { body } = await server.request('GET', `/v1/applications/parent/runs/${id}/logs/live`);
  return (body as { items: { log: string }[] }).items.map(({ log }) => log).join('\n');
}

/** Starts a run that stays open after its requests; returns its token, which the log has backwards. */
async function openRun(requests: AppRequest[] = [], key?: string) {
  const input = { requests, reveals: true, staysOpen: true };
  const id = key
    ? await createRun(server, 'parent', { instance: 'flow', input, token: key })
    : await createCallingRun(server, 'parent', input);
  await waitForLogLine(server, 'parent', id, 'sent');
  const [, reversed = ''] = /revealed (\S+)/.exec(await readLog(id)) ?? [];
  return { id, token: [...reversed].reverse().join('') };
}

const readStatus = async (application: string, id: string) =>
  (
    await server.client.call('getRunMetadata', {
      params: { application_id: application, run_id: id } as never,
    })
  ).body.status_v2;

const updateRow = (id: string, columns: Record<string, number | null>) =>
  server.runningServer.database.transact((tx) =>
    tx
      .updateTable('runs')
      .set(columns)
      .where('id', '=', id as never)
      .execute(),
  );

test('twenty runs of a workflow end on a server with one slot, and name the workflow', async () => {
  const requests = Array.from({ length: 20 }, (_, value) => create(value));
  const { id, outputs } = await call({ requests, isConcurrent: true });
  expect(outputs.map(({ solution }) => solution.value)).toEqual(requests.map((_, value) => value));
  const { body } = await server.request('GET', `${LEAF_RUNS}?limit=50`);
  const { runs } = body as { runs: { id: string }[] };
  expect(runs).toHaveLength(20);
  const workflow = { parent_run_id: id, parent_application_id: 'parent', workflow_name: 'parent' };
  for (const run of runs) expect(run).toMatchObject(workflow);
  const child = await server.request('GET', `${LEAF_RUNS}/${runs[0]?.id}/metadata`);
  expect(child.body).toMatchObject({ ...workflow, metadata: workflow, user_email: 'root@localhost' });
});

test('an input can be uploaded, and every change has an audit entry of the run', async () => {
  const upload = await call({ requests: [{ method: 'POST', path: `${LEAF_RUNS}/uploadurl` }] });
  expect(upload.responses[0]?.body.upload_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/uploads\//);
  const { body } = await server.request('GET', '/v1/account/audit?limit=5');
  const entries = (body as { items: Record<string, unknown>[] }).items;
  expect(entries.find((entry) => entry.operation === 'createRunUpload')).toMatchObject({
    key_id: upload.id,
    key_name: `run ${upload.id}`,
    role: 'operator',
  });
  // The URL ends with the run that requested it.
  const { pathname, search } = new URL(upload.responses[0]?.body.upload_url ?? '');
  const late = await fetch(`${server.url}${pathname}${search}`, { method: 'PUT', body: '{}' });
  expect([late.status, await late.text()]).toEqual([
    403,
    expect.stringContaining('the run that requested it has ended'),
  ]);
});

test('the app reaches nothing but the operations on runs of the applications that the instance names', async () => {
  const refusals: [AppRequest, RegExp][] = [
    [
      create(1, '/v1/applications/stranger/runs'),
      /cannot reach the application "stranger": it reaches leaf, parent\. Name/,
    ],
    [{ path: '/v1/applications/stranger/runs' }, /cannot reach the application "stranger"/],
    [{ path: '/v1/applications' }, /cannot call listApplications: it can read/],
    [{ path: '/v1/account' }, /cannot call getAccount/],
    [{ path: '/v1/account/queue' }, /cannot call getQueue/],
    [
      { method: 'POST', path: '/v1/account/keys', body: { name: 'mine', role: 'viewer' } },
      /cannot call createKey/,
    ],
    [
      { method: 'POST', path: `${LEAF_RUNS}/any/shares`, body: { parts: ['output'] } },
      /cannot call createShare/,
    ],
    [{ method: 'POST', path: `${LEAF_RUNS}/any/replay` }, /cannot call replayRun|There is no path/],
    [{ method: 'DELETE', path: '/v1/applications/leaf' }, /role operator may not/],
    [{ method: 'PUT', path: '/v1/applications/leaf/instances/flow', body: {} }, /role operator may not/],
    [{ path: '/v1/applications/leaf/secrets/any' }, /role operator may not/],
    [
      {
        method: 'PUT',
        path: '/v1/internal/applications/leaf/runs/any/flow',
        body: { pipeline_graph: { steps: [], nodes: [] } },
      },
      /graph of this run alone; the request names the run "any"/,
    ],
    [{ path: '/health' }, /reaches the API alone/],
    [{ path: '/console' }, /reaches the API alone/],
  ];
  const { responses } = await call({ requests: refusals.map(([request]) => request) });
  for (const [index, [request, message]] of refusals.entries()) {
    const { status, body } = responses[index] ?? { status: 0, body: {} };
    expect([request.path, status]).toEqual([
      request.path,
      expect.toSatisfy((one: number) => one === 403 || one === 404),
    ]);
    expect(body.message ?? body.error).toMatch(message);
  }
  const runner = server.runningServer.runner;
  if (runner?.host.containment === 'sandbox') {
    const { responses: outside } = await call({ requests: [{ path: `${server.url}/v1/account` }] });
    expect(outside).toEqual([{ status: 0, body: 'ECONNREFUSED' }]);
  }
});

describe('the token', () => {
  test('is masked in the log', async () => {
    const { id } = await call({ requests: [], reveals: true });
    expect(await readLog(id)).toMatch(/hidden \*+$/m);
  });

  test('is refused from outside the run, and after every end of the attempt', async () => {
    const { id, token } = await openRun();
    const use = async (text = token, headers: Record<string, string> = {}) => {
      const { status, body } = await sendRequest(`${server.url}${LEAF_RUNS}`, 'GET', text, { headers });
      return `${status} ${(body as { message?: string }).message}`;
    };
    expect(await use()).toMatch(/^401 The run token of the run \S+ works only inside this run/);
    expect(await use(token, { 'switchyard-run-proof': `http://127.0.0.1:4747 ${'A'.repeat(43)}` })).toMatch(
      /^401 .* works only inside this run/,
    );
    expect(await use(`${token.slice(0, -2)}AA`)).toMatch(/^401 The run token was not issued by this server/);
    expect(await use(token.replace(/^run\.[^.]+/, 'run.run-another'))).toMatch(/^401 .* not issued/);
    await updateRow(id, { initiated_at: 1000 });
    expect(await use()).toMatch(/^401 .* has lasted longer than it may/);
    await updateRow(id, { initiated_at: Date.now(), cancel_requested_at: 1 });
    expect(await use()).toMatch(/^401 .* a cancel of the run was requested/);
    await updateRow(id, { cancel_requested_at: null });
    const { database } = server.runningServer;
    const account_id = (await server.client.call('getAccount')).body.id;
    const removed = { account_id, owner: 'root@localhost', removed_at: 1 };
    await database.transact((tx) => tx.insertInto('removed_members').values(removed).execute());
    expect(await use()).toMatch(/^401 .* the member root@localhost was removed from the account/);
    await database.transact((tx) => tx.deleteFrom('removed_members').execute());
    await updateRow(id, { fence: 2 });
    expect(await use()).toMatch(/^401 .* was started again/);
    await updateRow(id, { fence: 1 });
    await server.request('PATCH', `/v1/applications/parent/runs/${id}/cancel`);
    await waitForRunEnd(server, 'parent', id);
    expect(await use()).toMatch(/^401 .* has ended: the run is canceled/);
    await server.request('DELETE', `/v1/applications/parent/runs/${id}`);
    expect(await use()).toMatch(/^401 .* the run was deleted/);
  });

  test('A9: ends when the key of a service that started the run is revoked, also for the runs that it created', async () => {
    const request = { name: 'Service', role: 'operator', user_email: 'service@example.com' };
    const { body } = await server.request('POST', '/v1/account/keys', { body: request });
    const key = body as { id: string; token: string };
    const { id, token } = await openRun([create('wait')], key.token);
    const use = async () => JSON.stringify((await server.request('GET', LEAF_RUNS, { token })).body);
    expect(await use()).toMatch(/works only inside this run/);
    const keys = server.runningServer.database.read.selectFrom('runs').select('created_by_key');
    const children = await keys.where('parent_run_id', '=', id as RunId).execute();
    expect(children).toEqual([{ created_by_key: key.id }]);
    expect((await server.request('DELETE', `/v1/account/keys/${key.id}`)).status).toBe(204);
    expect(await use()).toMatch(/has ended: the key that started the run was revoked/);
    await server.request('PATCH', `/v1/applications/parent/runs/${id}/cancel`);
    await waitForRunEnd(server, 'parent', id);
  });

  test('cannot be read by another run', async () => {
    if (server.runningServer.runner?.host.containment !== 'sandbox') return;
    // It has created a run, so that it holds no slot.
    const { id } = await openRun([create(1)]);
    const { found } = await call({ requests: [], spies: server.dataFolder });
    expect(found).toBe(0);
    await server.request('PATCH', `/v1/applications/parent/runs/${id}/cancel`);
    await waitForRunEnd(server, 'parent', id);
  });
});

test('a cancel of a workflow cancels the runs below it, on every level', async () => {
  const inner = create('inner', '/v1/applications/parent/runs?instance_id=flow');
  const { id } = await openRun([
    create('wait'),
    create('queued'),
    { ...inner, body: { input: { requests: [create('wait below')], staysOpen: true } } },
  ]);
  const children = () =>
    server.runningServer.database.read
      .selectFrom('runs')
      .select(['id', 'application_id', 'status', 'error'])
      .where('id', '!=', id as never)
      .where('created_at', '>', startedAt)
      .execute();
  const startedAt = (
    await server.runningServer.database.read
      .selectFrom('runs')
      .select('created_at')
      .where('id', '=', id as never)
      .executeTakeFirstOrThrow()
  ).created_at;
  expect((await children()).length).toBeGreaterThanOrEqual(3);
  await server.request('PATCH', `/v1/applications/parent/runs/${id}/cancel`);
  for (const child of await children()) await waitForRunEnd(server, child.application_id, child.id);
  expect(new Set((await children()).map(({ status }) => status))).toEqual(new Set(['canceled']));
  expect((await children()).map(({ error }) => error)).toContain(
    'The run was canceled with the workflow that created it, before it started.',
  );
  await waitForRunEnd(server, 'parent', id);
  expect(await readStatus('parent', id)).toBe('canceled');
});

test('an app without a sandbox reaches the API at a port of the host', async () => {
  const other = await startTestServer({
    env: { SWITCHYARD_CONTAINMENT: 'limits', SWITCHYARD_CAPACITY: '1' },
  });
  try {
    await pushApp(other, 'leaf', LEAF, { executable_type: 'binary', entrypoint: 'main.sh' });
    await pushCallingApp(other, 'parent', ['leaf']);
    const id = await createCallingRun(other, 'parent', { requests: [create(7)] });
    const { output } = await waitForRunEnd(other, 'parent', id);
    expect(output).toMatchObject({ solution: { outputs: [{ solution: { value: 7 } }] } });
  } finally {
    await other.close();
  }
});

test('workflows nest to a bounded depth', async () => {
  const flow = '/v1/applications/parent/runs?instance_id=flow';
  const nest = (depth: number): AppRequest =>
    depth === 0
      ? create('end')
      : { method: 'POST', path: flow, body: { input: { requests: [nest(depth - 1)] } } };
  const { outputs } = await call({ requests: [nest(3)] });
  // The third level asks for a fourth.
  const text = JSON.stringify(outputs);
  expect(text).toContain('so the run would be a workflow on level 4; there are 3 levels');
});

// The proxy of a sandbox listens on a socket of the server's folder.
test('A7: a run that loses its access for good is queued again', async (context) => {
  if (server.runningServer.runner?.host.containment !== 'sandbox') context.skip('needs the sandbox');
  const { id } = await openRun();
  const sockets = join(server.dataFolder, 'api-sockets');
  for (const name of readdirSync(sockets)) rmSync(join(sockets, name), { recursive: true });
  const children = new Set(listChildren(process.pid));
  const proxy = findProcessesByCommand('access/process/main.ts').find((pid) => children.has(pid)) ?? 0;
  expect(proxy).toBeGreaterThan(0);
  killProcess(proxy);
  const { database } = server.runningServer;
  await waitUntil('another attempt', async () => {
    const { host_faults } = await database.read
      .selectFrom('runs')
      .select('host_faults')
      .where('id', '=', id as never)
      .executeTakeFirstOrThrow();
    return host_faults === 1;
  });
  await server.request('PATCH', `/v1/applications/parent/runs/${id}/cancel`);
});
