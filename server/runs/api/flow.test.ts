/** The graph of a workflow: what the server stores of it, and what it refuses. */
import { FLOW_NODES_MAX, FLOW_STEPS_MAX } from '@switchyard/contract/limits.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, pushApp } from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { sendRequest } from '../../testing/http/request.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let path: string;
let run: string;
beforeAll(async () => {
  server = await startTestServer();
  const files = { main: '#!/bin/sh\ncat > /dev/null\necho "{}"\n' };
  await pushApp(server, 'app', files, { executable_type: 'binary', runtime: 'native' });
  run = await createRun(server, 'app', { input: {} });
  path = `/v1/internal/applications/app/runs/${run}/flow`;
});
afterAll(() => server.close());

const step = { id: 'solve', predecessors: [], docs: 'Solves.', app_id: 'echo' };
const node = { id: 'solve_0', parent_id: 'solve', predecessor_ids: [], status: 'running', run_id: 'run-1' };
const put = (body: unknown) => server.request('PUT', path, { body });

test('the last graph replaces the one before, without fields that the contract does not have', async () => {
  expectError(await server.request('GET', path), 404, 'has sent no graph of a workflow');
  expectStatus(await put({ pipeline_graph: { steps: [step], nodes: [] }, updated_at: 'any time' }), 200);
  const sent = {
    pipeline_graph: {
      steps: [{ ...step, docs: null, app_id: null, color: 'red' }],
      nodes: [node, { ...node, id: 'solve_1', status: 'a new one', run_id: null, cost: 1 }],
      version: 2,
    },
    updated_at: null,
    name: 'any',
  };
  const stored = await put(sent);
  expect(stored.body).toEqual({
    pipeline_graph: {
      steps: [{ id: 'solve', predecessors: [] }],
      nodes: [node, { ...node, id: 'solve_1', status: 'a new one', run_id: undefined }].map((one) =>
        JSON.parse(JSON.stringify(one)),
      ),
    },
    updated_at: expect.stringMatching(/Z$/),
  });
  expect((await server.request('GET', path)).body).toEqual(stored.body);
});

test.each([
  ['no graph', {}, 'pipeline_graph'],
  ['a list', { pipeline_graph: [] }, 'pipeline_graph'],
  ['a step without an id', { pipeline_graph: { steps: [{ predecessors: [] }], nodes: [] } }, 'id'],
  [
    'a node without a status',
    { pipeline_graph: { steps: [], nodes: [{ ...node, status: undefined }] } },
    'status',
  ],
  ['NUL', { pipeline_graph: { steps: [{ ...step, id: 'a\0b' }], nodes: [] } }, 'id'],
  ['many steps', { pipeline_graph: { steps: Array(FLOW_STEPS_MAX + 1).fill(step), nodes: [] } }, 'steps'],
  ['many nodes', { pipeline_graph: { steps: [], nodes: Array(FLOW_NODES_MAX + 1).fill(node) } }, 'nodes'],
  ['long text', { pipeline_graph: { steps: [{ ...step, docs: 'x'.repeat(5000) }], nodes: [] } }, 'docs'],
  ['megabytes', { pipeline_graph: { steps: [], nodes: [] }, any: 'x'.repeat(3_000_000) }, 'body'],
])('%s is refused', async (_, body, field) => {
  const response = await put(body);
  expect([response.status, (response.body as { error: string }).error]).toEqual([
    400,
    expect.stringContaining(field),
  ]);
});

test('another account, a viewer and a missing run', async () => {
  const other = await createOtherAccount(server);
  const body = { pipeline_graph: { steps: [], nodes: [] } };
  for (const method of ['GET', 'PUT'])
    expect(
      (await sendRequest(`${server.url}${path}`, method, other.token, method === 'PUT' ? { body } : {}))
        .status,
    ).toBe(404);
  const { token } = await server.createKey('viewer');
  expect((await sendRequest(`${server.url}${path}`, 'PUT', token, { body })).status).toBe(403);
  expectError(
    await server.request('PUT', path.replace(run, 'run-none'), { body }),
    404,
    'There is no run "run-none"',
  );
});
