/** Cancel and delete, in every state. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import { listRunningApps } from '../../testing/host/processes.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' } });
  await push('app');
});
afterAll(() => server.close());

/** Pushes an app that waits for a signal, and then writes its output or ignores the signal. */
const push = (application: string) =>
  pushApp(
    server,
    application,
    nodeApp(`async (input) => {
      console.error('started');
      if (!input.waits) return { done: true, pad: 'x'.repeat(input.pad ?? 0) };
      setInterval(() => console.error('tick'), 20);
      await new Promise((resolve) => process.on('SIGTERM', () => input.deaf || resolve()));
      process.stdout.write(input.says ?? '{"best":7}', () => process.exit(0));
    }`),
  );

const path = (run: string, rest = '', application = 'app'): string =>
  `/v1/applications/${application}/runs/${run}${rest}`;
const cancel = (run: string) => server.request('PATCH', path(run, '/cancel'));
const hasApp = (run: string): boolean => [...listRunningApps().values()].includes(run);

async function running(input: Record<string, unknown> = {}, application = 'app'): Promise<string> {
  const run = await createRun(server, application, { input: { waits: true, ...input } });
  await waitForLogLine(server, application, run, 'started');
  return run;
}

describe('cancel', () => {
  test('of a queued run ends it at once, without a start', async () => {
    const blocker = await running();
    const run = await createRun(server, 'app', { input: {} });
    expect((await cancel(run)).status).toBe(204);
    const { body } = await server.request('GET', path(run));
    expect(body).toMatchObject({ status_v2: 'canceled', status: 'failed', metadata: { attempt: 0 } });
    expect((body as { error: string }).error).toContain('canceled');
    await cancel(blocker);
    await waitForRunEnd(server, 'app', blocker);
    expect((await server.request('GET', path(run))).body).toEqual(body);
  });

  test('of a running run keeps valid output, and a second cancel changes nothing', async () => {
    const run = await running();
    expect((await cancel(run)).status).toBe(204);
    expect((await cancel(run)).status).toBe(204);
    const found = await waitForRunEnd(server, 'app', run);
    expect(found).toMatchObject({ status_v2: 'canceled', status: 'failed', output: { best: 7 } });
    const events = await server.runningServer.database.read
      .selectFrom('run_events')
      .select('status')
      .where('run_id', '=', run as never)
      .orderBy('seq')
      .execute();
    expect(events.map((event) => event.status)).toEqual(['queued', 'running', 'canceled']);
  });

  test('of a running run stores no invalid output', async () => {
    const run = await running({ says: 'half an ans' });
    await cancel(run);
    const found = await waitForRunEnd(server, 'app', run);
    expect(found.status_v2).toBe('canceled');
    expect(found).not.toHaveProperty('output');
    expect(found.error_log?.stdout).toBe('half an ans');
  });

  test('kills an app that ignores the signal, after the grace period', async () => {
    const run = await running({ deaf: true });
    await cancel(run);
    expect((await server.request('GET', path(run))).body).toMatchObject({ status_v2: 'running' });
    const found = await waitForRunEnd(server, 'app', run);
    expect(found.status_v2).toBe('canceled');
    expect(found).not.toHaveProperty('output');
    expect(hasApp(run)).toBe(false);
  });

  test('of a finished run changes nothing', async () => {
    const run = await createRunAndWait(server, 'app', { input: {} });
    expect((await cancel(run.id)).status).toBe(204);
    expect((await server.request('GET', path(run.id))).body).toEqual(run);
  });

  test('of a missing run returns 404', async () => {
    expect((await cancel('run-0000000000000000')).status).toBe(404);
  });
});

/** Counts the rows of a run in each table. */
async function countRows(run: string): Promise<Record<string, number>> {
  const { read } = server.runningServer.database;
  const count = async (table: 'runs' | 'log_chunks', column: 'id' | 'run_id'): Promise<number> => {
    const row = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(table)} where ${sql.ref(column)} = ${run}
    `.execute(read);
    return Number(row.rows[0]?.count);
  };
  return { runs: await count('runs', 'id'), lines: await count('log_chunks', 'run_id') };
}

async function contentIds(): Promise<string[]> {
  const rows = await server.runningServer.database.read.selectFrom('contents').select('id').execute();
  return rows.map((row) => row.id).sort();
}

function blobs(): string[] {
  const folder = join(server.dataFolder, 'blobs');
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort();
}

const NOTHING = { runs: 0, lines: 0 };

describe('delete', () => {
  test('of a finished run removes its rows, log lines, contents and blobs', async () => {
    const [contents, files] = [await contentIds(), blobs()];
    const run = await createRunAndWait(server, 'app', {
      input: { pad: 200_000, comment: 'y'.repeat(200_000) },
    });
    expect(blobs()).toHaveLength(files.length + 2);
    expect((await server.request('DELETE', path(run.id))).status).toBe(204);
    for (const rest of ['', '/metadata', '/input', '/output', '/logs', '/logs/live'])
      expect((await server.request('GET', path(run.id, rest))).status).toBe(404);
    expect((await server.request('DELETE', path(run.id))).status).toBe(404);
    expect(await countRows(run.id)).toEqual(NOTHING);
    expect(await contentIds()).toEqual(contents);
    expect(blobs()).toEqual(files);
  });

  test('of a queued run removes it from the queue', async () => {
    const blocker = await running();
    const contents = await contentIds();
    const run = await createRun(server, 'app', { input: {} });
    expect((await server.request('DELETE', path(run))).status).toBe(204);
    expect(await countRows(run)).toEqual(NOTHING);
    expect(await contentIds()).toEqual(contents);
    await cancel(blocker);
    await waitForRunEnd(server, 'app', blocker);
  });

  test('of a running run kills its app, and writes nothing afterwards', async () => {
    const [contents, files] = [await contentIds(), blobs()];
    const run = await running({ says: JSON.stringify({ pad: 'z'.repeat(200_000) }) });
    expect((await server.request('DELETE', path(run))).status).toBe(204);
    await waitUntil(`the app of ${run} is gone`, () => !hasApp(run));
    // The next run gets the slot, so the end of the deleted one has been dealt with when this one has ended.
    await createRunAndWait(server, 'app', { input: {} }).then((next) =>
      server.request('DELETE', path(next.id)),
    );
    await waitUntil(
      'its folder is gone',
      () => !existsSync(join(server.dataFolder, 'runner', 'runs', `${run}-1`)),
    );
    expect(await countRows(run)).toEqual(NOTHING);
    expect(await contentIds()).toEqual(contents);
    expect(blobs()).toEqual(files);
  });

  test('of the application deletes its running and queued runs', async () => {
    const [contents, files] = [await contentIds(), blobs()];
    await push('doomed');
    const run = await running({}, 'doomed');
    const queued = await createRun(server, 'doomed', { input: { comment: 'y'.repeat(200_000) } });
    expect((await server.request('DELETE', '/v1/applications/doomed')).status).toBe(204);
    expect((await server.request('GET', path(run, '', 'doomed'))).status).toBe(404);
    await waitUntil(`the app of ${run} is gone`, () => !hasApp(run));
    await expect.poll(async () => (await contentIds()).length).toBe(contents.length);
    expect(await contentIds()).toEqual(contents);
    await expect.poll(() => blobs().length).toBe(files.length);
    for (const one of [run, queued]) expect(await countRows(one)).toEqual(NOTHING);
  });
});
