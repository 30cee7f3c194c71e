/** Apps that turn the API against the server: other credentials, keys of other requests, and workflows without end. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pushApp, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import {
  type AppRequest,
  type CallingInput,
  createCallingRun,
  pushCallingApp,
} from '../../testing/fixtures/workflows/calling-app.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const LEAF = {
  'main.sh':
    '#!/bin/sh\ninput=$(cat)\ncase "$input" in *wait*) exec sleep 60;; esac\necho "{\\"solution\\": $input}"\n',
};
const LEAF_RUNS = '/v1/applications/leaf/runs';
const FLOW = '/v1/applications/parent';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '2' } });
  await pushApp(server, 'leaf', LEAF, { executable_type: 'binary', entrypoint: 'main.sh' });
  await pushCallingApp(server, 'parent', ['leaf', 'parent']);
  const body = {
    ...{ id: 'again', name: 'Workflows', run_groups: [{ id: 'flow', instance_id: 'flow' }] },
    rules: [
      {
        ...{ id: 'value', statistics_path: '$.result.value', objective: 'minimize', index: 0 },
        tolerance: { type: 'absolute', value: 1 },
      },
    ],
  };
  expect((await server.request('POST', `${FLOW}/ensembles`, { body })).status).toBeLessThan(300);
});
afterAll(() => server.close());

const create = (value: number | string, headers: Record<string, string> = {}): AppRequest => ({
  ...{ method: 'POST', path: LEAF_RUNS, headers },
  body: { input: { value } },
});
const createOfEnsemble = (input: CallingInput): AppRequest => ({
  ...{ method: 'POST', path: `${FLOW}/runs` },
  body: { input, configuration: { run_type: { type: 'ensemble', definition_id: 'again' } } },
});

interface Response {
  status: number;
  body: Record<string, string>;
}

async function call(requests: AppRequest[]): Promise<Response[]> {
  const id = await createCallingRun(server, 'parent', { requests });
  const { metadata, output } = await waitForRunEnd(server, 'parent', id);
  expect(metadata.error).toBe('');
  const { solution }: { solution?: { responses: Response[] } } = Object(output);
  return solution?.responses ?? [];
}

const listRows = () =>
  server.runningServer.database.read
    .selectFrom('runs')
    .select(['id', 'application_id', 'status', 'error', 'run_type', 'api_access', 'workflow_depth'])
    .orderBy('created_at')
    .execute();

test('an app without network cannot send its data to another account through the API', async () => {
  const { body: upload } = await server.request('POST', `${LEAF_RUNS}/uploadurl`);
  const { pathname, search } = new URL((upload as { upload_url: string }).upload_url);
  const attacks: [AppRequest, RegExp][] = [
    [
      { path: LEAF_RUNS, headers: { authorization: `Bearer ${server.token}` } },
      /^401 .* can use its run token alone, not a key/,
    ],
    [{ path: LEAF_RUNS, headers: { authorization: 'Bearer eyJ.e30.x' } }, /^401 .* run token alone/],
    [
      {
        ...{ method: 'POST', path: '/v1/accounts', headers: { authorization: '' } },
        body: { name: 'Mine', email: 'me@localhost' },
      },
      /^403 The app of a run cannot call createAccount/,
    ],
    [{ method: 'POST', path: '/v1/account/sessions', body: {} }, /^403 .* cannot call createSession/],
    [{ path: '/v1/sso' }, /^403 .* cannot call getSingleSignOn/],
    [{ path: `/v1/shared/${'a'.repeat(43)}` }, /^403 .* cannot call getSharedRun/],
    [{ method: 'PUT', path: `${pathname}${search}`, body: {} }, /^403 The key .* is another one/],
    [{ path: '/v1/%61ccount' }, /^403 .* cannot call getAccount/],
    [{ path: LEAF_RUNS, headers: { authorization: '' } }, /^401 The Authorization header must be/],
    [{ path: '//v1/accounts' }, /^404 .* reaches the API alone/],
  ];
  const responses = await call(attacks.map(([request]) => request));
  expect(responses).toHaveLength(attacks.length);
  for (const [index, { status, body }] of responses.entries())
    expect(`${status} ${body.message ?? body.error}`).toMatch(attacks[index]?.[1] ?? /none/);
});

test('an Idempotency-Key of an app is apart from that of another run and of a key', async () => {
  const headers = { 'idempotency-key': 'step-1' };
  const { body } = await server.request('POST', LEAF_RUNS, { body: create(1).body, headers });
  const first = await call([create(1, headers), create(1, headers)]);
  const second = await call([create(1, headers)]);
  const [one, repeated, another] = [...first, ...second].map((response) => response.body.run_id);
  expect(repeated).toBe(one);
  expect(new Set([(body as { run_id: string }).run_id, one, another]).size).toBe(3);
});

test('ensembles do not let workflows nest deeper than others', async () => {
  const nest = (depth: number): CallingInput => ({
    requests: depth === 0 ? [create('end')] : [createOfEnsemble(nest(depth - 1))],
  });
  const id = await createCallingRun(server, 'parent', nest(4));
  expect((await waitForRunEnd(server, 'parent', id)).status_v2).toBe('succeeded');
  const rows = await listRows();
  const depths = rows.filter((row) => row.api_access !== null).map((row) => row.workflow_depth);
  expect(Math.max(...depths)).toBe(2);
  expect(rows.map(({ error }) => error).join('\n')).toContain('workflow on level 4; there are 3 levels');
});

test('the deletion of an ensemble of workflows cancels the runs below them', async () => {
  const { body, path } = createOfEnsemble({ requests: [create('wait for the end')], staysOpen: true });
  const before = new Set((await listRows()).map((row) => row.id));
  const response = await server.request('POST', path, { body });
  const { run_id } = response.body as { run_id: string };
  const child = await server.waitUntil('runs-started', async () =>
    (await listRows()).find(
      (row) => !before.has(row.id) && row.application_id === 'leaf' && row.status === 'running',
    ),
  );
  expect((await server.request('DELETE', `${FLOW}/runs/${run_id}`)).status).toBe(204);
  expect((await waitForRunEnd(server, 'leaf', child.id)).status_v2).toBe('canceled');
});
