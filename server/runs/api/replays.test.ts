/** Replays through the API: the repeated run, its comparison, and the runs that cannot be replayed. */
import type { ReplayComparison } from '@switchyard/contract/runs/replays.ts';
import type { InstanceId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  packFiles,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await pushApp(
    server,
    'app',
    nodeApp(`async (input, options) => {
      if (input.waits) { console.error('waiting'); setInterval(() => {}, 1000); await new Promise(() => {}); }
      if (input.fails) { console.error('no'); process.exit(4); }
      const noise = process.env.NEXTMV_RUN_ID;
      const solution = { seed: options.seed, size: input.size, ...(input.noise === 'solution' ? { noise } : {}) };
      const value = input.noise === 'value' ? parseInt(noise.slice(-6), 36) : 7;
      return {
        ...(input.large ? { filler: 'x'.repeat(300000) } : {}),
        solution: input.noise === 'value' ? { value } : solution,
        statistics: { schema: 'v1', result: { value }, run: { custom: { id: input.noise ? noise : '' } } },
      };
    }`),
    { options: { items: [{ name: 'seed', option_type: 'int', default: 1 }] } },
  );
  await server.client.call('createVersion', {
    params: { application_id: 'app' },
    body: { id: 'v1', name: 'Version one' },
  });
  await server.client.call('createInstance', {
    params: { application_id: 'app' },
    body: { id: 'i1', name: 'Instance one', version_id: 'v1', configuration: { options: { seed: 3 } } },
  });
});
afterAll(() => server.close());

const path = (run: string, rest = ''): string => `/v1/applications/app/runs/${run}${rest}`;
const replay = async (run: string, body?: object): Promise<string> => {
  const response = await server.request('POST', path(run, '/replay'), body === undefined ? {} : { body });
  expectStatus(response, 202);
  return (response.body as { run_id: string }).run_id;
};
const listReplays = async (run: string) =>
  (
    await server.client.call('listRunReplays', {
      params: { application_id: 'app', run_id: run as RunId },
    })
  ).body.items;
const waitForComparison = (original: string, run: string): Promise<ReplayComparison> =>
  server.waitUntil(
    'replays-compared',
    async () => (await listReplays(original)).find((each) => each.run_id === run)?.comparison,
  );
const replayAndCompare = async (original: string): Promise<ReplayComparison> =>
  waitForComparison(original, await replay(original));

describe('the replay', () => {
  test('has the executable, input and options of the original, as they were then', async () => {
    const original = await createRunAndWait(server, 'app', {
      instance: 'i1',
      input: { size: 4 },
      body: { name: 'Monday', options: { extra: 'x' } },
    });
    // Neither a new configuration of the instance nor a push changes what the replay executes.
    await server.client.call('updateInstance', {
      params: { application_id: 'app', instance_id: 'i1' as InstanceId },
      body: { name: 'Instance one', version_id: 'v1', configuration: { options: { seed: 8 } } },
    });
    const id = await replay(original.id);
    const run = await waitForRunEnd(server, 'app', id);
    expect(run).toMatchObject({
      name: 'Monday',
      status_v2: 'succeeded',
      application_instance_id: 'i1',
      application_version_id: 'v1',
      output: { solution: { seed: '3', size: 4 } },
      metadata: {
        options: original.metadata.options,
        tracking: { cloned_run_id: original.id },
        execution_class: original.metadata.execution_class,
      },
    });
    expect(await waitForComparison(original.id, id)).toMatchObject({
      verdict: 'bytes_equal',
      original_value: 7,
      replay_value: 7,
      solution_compared: true,
      number_of_differences: 0,
      may_differ: [],
    });
    expect(await listReplays(original.id)).toMatchObject([
      { run_id: id, original_run_id: original.id, status_v2: 'succeeded' },
    ]);
  });

  test('takes a name, and is listed newest first in pages', async () => {
    const original = await createRunAndWait(server, 'app', { input: { size: 1 } });
    const first = await replay(original.id, { name: 'Again', description: 'To be sure.' });
    const second = await replay(original.id);
    const { body } = await server.client.call('getRunMetadata', {
      params: { application_id: 'app', run_id: first as RunId },
    });
    expect(body).toMatchObject({ name: 'Again', description: 'To be sure.' });
    const readPage = (query: string) =>
      server.request('GET', `${path(original.id, '/replays')}?limit=1${query}`);
    const page = (await readPage('')).body as { items: { run_id: string }[]; next_page_token: string };
    const next = (await readPage(`&pagetoken=${page.next_page_token}`)).body as typeof page;
    const ids = [...page.items, ...next.items].map((each) => each.run_id);
    expect(ids.sort()).toEqual([first, second].sort());
    expect(next.next_page_token).toBeUndefined();
  });

  test('repeats a request with the same Idempotency-Key without a second run', async () => {
    const original = await createRunAndWait(server, 'app', { input: { size: 2 } });
    const send = () =>
      server.request('POST', path(original.id, '/replay'), { headers: { 'idempotency-key': 'replay-once' } });
    const [first, second] = [await send(), await send()];
    expect(second.body).toEqual(first.body);
    expect(await listReplays(original.id)).toHaveLength(1);
  });
});

describe('the comparison', () => {
  test.for([
    { noise: 'statistics', verdict: 'same_solution', path: '/statistics/run/custom/id', differences: 1 },
    { noise: 'solution', verdict: 'same_objective', path: '/solution/noise', differences: 2 },
    { noise: 'value', verdict: 'different', path: '/solution/value', differences: 3 },
  ])(
    'of an app with noise in its $noise is $verdict',
    async ({ noise, verdict, path: place, differences }) => {
      const original = await createRunAndWait(server, 'app', { input: { size: 3, noise } });
      const comparison = await replayAndCompare(original.id);
      expect(comparison).toMatchObject({ verdict, number_of_differences: differences });
      expect(comparison.differences[0]?.path).toBe(place);
      expect(comparison.may_differ.map(({ cause }) => cause)).toContain('randomness');
    },
  );

  test('of outputs above 256 KiB is made in a thread', async () => {
    const original = await createRunAndWait(server, 'app', { input: { noise: 'solution', large: true } });
    expect(await replayAndCompare(original.id)).toMatchObject({
      verdict: 'same_objective',
      number_of_differences: 2,
    });
  });

  test('of two equal failures is same_failure', async () => {
    const original = await createRunAndWait(server, 'app', { input: { fails: true } });
    expect(await replayAndCompare(original.id)).toMatchObject({
      verdict: 'same_failure',
      original_status: 'failed',
      replay_status: 'failed',
    });
  });
});

test('multi-file outputs are compared by their files, whose times of change differ', async () => {
  await pushApp(
    server,
    'files',
    {
      'main.mjs': `
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
mkdirSync('outputs/solutions', { recursive: true });
writeFileSync('outputs/solutions/plan.csv', 'a,b');
const time = parseInt(process.env.NEXTMV_RUN_ID.slice(-5), 36);
utimesSync('outputs/solutions/plan.csv', time, time);
`,
    },
    { io_configuration: { format: 'multi-file' } },
  );
  const params = { application_id: 'files' };
  const { body: upload } = await server.client.call('createRunUpload', { params });
  await fetch(upload.upload_url, { method: 'PUT', body: new Uint8Array(await packFiles({ a: '1' })) });
  const original = await createRun(server, 'files', { body: { upload_id: upload.upload_id } });
  // An archive is in no response, so the metadata are read.
  const ended = await server.waitUntil('runs-ended', async () => {
    const { body } = await server.client.call('getRunMetadata', {
      params: { ...params, run_id: original as RunId },
    });
    return body.status_v2 === 'succeeded' || body.status_v2 === 'failed' ? body : null;
  });
  expect(ended.error).toBe('');
  expectStatus(await server.request('POST', `/v1/applications/files/runs/${original}/replay`), 202);
  const comparison = await server.waitUntil('replays-compared', async () => {
    const { body } = await server.client.call('listRunReplays', {
      params: { ...params, run_id: original as RunId },
    });
    return body.items[0]?.comparison;
  });
  expect(comparison).toMatchObject({ verdict: 'same_solution', number_of_differences: 0 });
});

describe('refused replays', () => {
  test('of a run that has not ended, an external run and a missing run', async () => {
    const waiting = await createRun(server, 'app', { input: { waits: true } });
    await waitForLogLine(server, 'app', waiting, 'waiting');
    expectError(await server.request('POST', path(waiting, '/replay')), 400, 'is running', 'has ended');
    expectStatus(await server.request('PATCH', path(waiting, '/cancel')), 204);
    const external = await createRun(server, 'app', { body: { input: {}, result: { status: 'succeeded' } } });
    expectError(await server.request('POST', path(external, '/replay')), 400, 'is external');
    expectError(await server.request('POST', path('run-none', '/replay')), 404, 'run-none');
    expectError(await server.request('GET', path('run-none', '/replays')), 404, 'run-none');
  });

  test('of a run whose executable is removed', async () => {
    const original = await createRunAndWait(server, 'app', { input: { size: 5 } });
    const { database } = server.runningServer;
    const { executable_id: executable } = await database.read
      .selectFrom('runs')
      .select('executable_id')
      .where('id', '=', original.id)
      .executeTakeFirstOrThrow();
    const setRemoved = (at: number | null) =>
      database.transact((tx) =>
        tx.updateTable('executables').set({ archive_removed_at: at }).where('id', '=', executable).execute(),
      );
    await setRemoved(1);
    expectError(await server.request('POST', path(original.id, '/replay')), 400, 'was removed', 'version');
    await setRemoved(null);
    expect(await listReplays(original.id)).toEqual([]);
  });

  test('by a viewer', async () => {
    const original = await createRunAndWait(server, 'app', { input: { size: 6 } });
    const { token } = await server.createKey('viewer');
    expectStatus(await server.request('POST', path(original.id, '/replay'), { token }), 403);
    expectStatus(await server.request('GET', path(original.id, '/replays'), { token }), 200);
  });
});

test('a deleted version does not prevent the replay while its executable is active', async () => {
  await server.client.call('createVersion', {
    params: { application_id: 'app' },
    body: { id: 'v2', name: 'Version two' },
  });
  await server.client.call('createInstance', {
    params: { application_id: 'app' },
    body: { id: 'i2', name: 'Instance two', version_id: 'v2' },
  });
  const original = await createRunAndWait(server, 'app', { instance: 'i2', input: { size: 9 } });
  expectStatus(await server.request('DELETE', '/v1/applications/app/instances/i2'), 204);
  expectStatus(await server.request('DELETE', '/v1/applications/app/versions/v2'), 204);
  expect(await replayAndCompare(original.id)).toMatchObject({ verdict: 'bytes_equal' });
});

test('the deletion of the original removes its replays from the list, but not their runs', async () => {
  const original = await createRunAndWait(server, 'app', { input: { size: 7 } });
  const [first, second] = [await replay(original.id), await replay(original.id)];
  await waitForComparison(original.id, first);
  await waitForComparison(original.id, second);
  expectStatus(await server.request('DELETE', path(first)), 204);
  expect((await listReplays(original.id)).map(({ run_id }) => run_id)).toEqual([second]);
  expectStatus(await server.request('DELETE', path(original.id)), 204);
  expectStatus(await server.request('GET', path(second, '/metadata')), 200);
  const rows = await server.runningServer.database.read
    .selectFrom('run_replays')
    .select('run_id')
    .where('original_run_id', '=', original.id)
    .execute();
  expect(rows).toEqual([]);
});
