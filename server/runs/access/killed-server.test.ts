/** A server is killed while a workflow waits for its runs: the workflow starts again, and gets the runs that it has created. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isTerminal } from '@switchyard/contract/states.ts';
import { afterEach, expect, inject, test } from 'vitest';
import { dropDatabase } from '../../testing/database/postgres-server.ts';
import { createPostgresDatabase } from '../../testing/database/test-database.ts';
import { pushApp } from '../../testing/fixtures/apps.ts';
import { createCallingRun, pushCallingApp } from '../../testing/fixtures/workflows/calling-app.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { type ServerProcess, startServerProcess } from '../../testing/servers/server-process.ts';

const RUNS = 20;
const LEAF = { 'main.sh': '#!/bin/sh\ninput=$(cat)\nsleep 0.2\necho "{\\"solution\\": $input}"\n' };
const postgres = inject('postgres');
const dataFolder = mkdtempSync(join(tmpdir(), 'switchyard-killed-'));
const database = postgres ? await createPostgresDatabase() : null;
let server: ServerProcess | undefined;

afterEach(async () => {
  await server?.kill();
  rmSync(dataFolder, { recursive: true, force: true });
  if (postgres && database) await dropDatabase(postgres, database.name);
});

const start = () =>
  startServerProcess({
    dataFolder,
    env: { SWITCHYARD_CAPACITY: '1', ...(database ? { SWITCHYARD_DATABASE: database.address } : {}) },
  });

async function listChildren(on: ServerProcess): Promise<{ id: string; status_v2: string; name: string }[]> {
  const { body } = await on.request('GET', '/v1/applications/leaf/runs?limit=50');
  return (body as { runs: { id: string; status_v2: string; name: string }[] }).runs;
}

test('every run of the workflow exists once after kill -9', async () => {
  server = await start();
  await pushApp(server, 'leaf', LEAF, { executable_type: 'binary', entrypoint: 'main.sh' });
  await pushCallingApp(server, 'parent', ['leaf']);
  // Half of the requests are equal, as those of a repeated step without a name.
  const requests = Array.from({ length: RUNS }, (_, index) => ({
    method: 'POST',
    path: '/v1/applications/leaf/runs',
    // The stored response to the key must not take the place of the run: the workflow would keep its only slot.
    headers: { 'idempotency-key': `step-${index}` },
    body: { input: { value: index % 2 === 0 ? index : 'same' } },
  }));
  const run_id = await createCallingRun(server, 'parent', { requests, isConcurrent: true });
  const before = await waitUntil('the end of five runs', async () => {
    const children = await listChildren(server as ServerProcess);
    return children.filter(({ status_v2 }) => isTerminal(status_v2 as never)).length >= 5 && children;
  });
  expect(before).toHaveLength(RUNS);
  await server.kill('SIGKILL');
  server = await start();
  const params = { application_id: 'parent', run_id } as never;
  const end = await waitUntil('the end of the workflow', async () => {
    const { body } = await (server as ServerProcess).client.call('getRun', { params });
    return isTerminal(body.status_v2) ? body : null;
  });
  expect([end.status_v2, end.metadata.error, end.metadata.attempt]).toEqual(['succeeded', '', 2]);
  const { outputs } = (end.output as { solution: { outputs: { solution: { value: unknown } }[] } }).solution;
  expect(outputs.map(({ solution }) => solution.value)).toEqual(requests.map(({ body }) => body.input.value));
  const after = await listChildren(server);
  expect(after.map(({ id }) => id).sort()).toEqual(before.map(({ id }) => id).sort());
  expect(new Set(after.map(({ status_v2 }) => status_v2))).toEqual(new Set(['succeeded']));
});
