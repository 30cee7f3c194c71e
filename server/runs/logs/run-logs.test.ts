/** Logs: the whole log after the end, the live log in pages, and its retention of 24 hours. */
import type { LiveLog } from '@switchyard/contract/runs/run-logs.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../platform/clock.ts';
import {
  createRun,
  createRunAndWait,
  nodeApp,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const LIVE_LINES = 20_000;

/** The system clock, which a test can shift forward. */
let shiftMs = 0;
const clock: Clock = {
  now: () => Date.now() + shiftMs,
  after: systemClock.after,
  elapsed: systemClock.elapsed,
  processorTime: () => 0,
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
  await pushApp(
    server,
    'app',
    nodeApp(`async (input) => {
      const write = (text) => new Promise((resolve) => process.stderr.write(text, resolve));
      for (let n = 0; n < (input.lines ?? 0); n += 1) await write('line ' + n + '\\n');
      if (input.text !== undefined) await write(input.text);
      if (input.waits) await new Promise((resolve) => { process.on('SIGTERM', resolve); setInterval(() => {}, 1000); });
      process.exitCode = 0;
      process.stdout.write('{}', () => process.exit());
    }`),
  );
});
afterAll(() => server.close());

const path = (run: string, rest: string): string => `/v1/applications/app/runs/${run}${rest}`;
const cancel = (run: string) => server.request('PATCH', path(run, '/cancel'));

async function getLivePage(run: string, since?: string): Promise<LiveLog> {
  const { body } = await server.client.call('getRunLiveLogs', {
    params: { application_id: 'app', run_id: run },
    ...(since === undefined ? {} : { query: { since } }),
  });
  return body;
}

/** Follows the log as the published clients do: until a page has a terminal status. */
async function follow(run: string): Promise<{ items: LiveLog['items']; pages: LiveLog[] }> {
  const pages: LiveLog[] = [];
  let since: string | undefined;
  for (;;) {
    const page = await getLivePage(run, since);
    pages.push(page);
    since = page.next_page_token ?? since;
    if (isTerminal(page.status_v2)) return { items: pages.flatMap(({ items }) => items), pages };
    expect(page.next_available_in_seconds).toBeGreaterThanOrEqual(1);
  }
}

describe('the whole log', () => {
  test('is available after the end, and gets a 400 before it', async () => {
    const run = await createRun(server, 'app', { input: { text: 'a\nb\n', waits: true } });
    await waitForLogLine(server, 'app', run, 'b');
    const early = await server.request('GET', path(run, '/logs'));
    expect(early.status).toBe(400);
    expect((early.body as { error: string }).error).toContain('running');
    await cancel(run);
    await waitForRunEnd(server, 'app', run);
    expect((await server.request('GET', path(run, '/logs'))).body).toEqual({ log: 'a\nb\n' });
  });

  test('of an app that logs nothing is empty', async () => {
    const run = await createRunAndWait(server, 'app', { input: {} });
    expect((await server.request('GET', path(run.id, '/logs'))).body).toEqual({ log: '' });
    expect(await getLivePage(run.id)).toMatchObject({ items: [], status_v2: 'succeeded' });
  });

  test('contains quotes, backslashes and characters of every length unchanged', async () => {
    const text = '"\\n" \t \u0001 ä € 𝄞\n'.repeat(5000);
    const run = await createRunAndWait(server, 'app', { input: { text } });
    const { body } = await server.client.call('getRunLogs', {
      params: { application_id: 'app', run_id: run.id },
    });
    expect(body.log === text).toBe(true);
  });
});

describe('the live log', () => {
  test('has lines while the app runs, and continues after the previous page', async () => {
    const run = await createRun(server, 'app', { input: { lines: 3, waits: true } });
    await waitForLogLine(server, 'app', run, 'line 2');
    const first = await getLivePage(run);
    expect(first.status_v2).toBe('running');
    expect(first.next_available_in_seconds).toBeGreaterThanOrEqual(1);
    expect(first.items.map((item) => item.log)).toEqual(['line 0', 'line 1', 'line 2']);
    const again = await getLivePage(run, first.next_page_token);
    expect(again.items).toEqual([]);
    expect(again.next_page_token).toBe(first.next_page_token);
    await cancel(run);
    await waitForRunEnd(server, 'app', run);
    expect(await getLivePage(run, first.next_page_token)).toMatchObject({ items: [], status_v2: 'canceled' });
  });

  test('has every line, in order, before or with the terminal status', async () => {
    const run = await createRun(server, 'app', { input: { lines: LIVE_LINES } });
    const { items, pages } = await follow(run);
    expect(items).toHaveLength(LIVE_LINES);
    expect(items.every((item, index) => item.log === `line ${index}`)).toBe(true);
    const stamps = items.map((item) => item.timestamp);
    expect(stamps.every((stamp) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(stamp))).toBe(true);
    expect(stamps.every((stamp, index) => index === 0 || stamp > (stamps[index - 1] ?? ''))).toBe(true);
    expect(pages.slice(0, -1).some((page) => isTerminal(page.status_v2))).toBe(false);
    const { items: later } = await follow(run);
    expect(later).toEqual(items);
  });

  test('truncates a line above 64 KiB and marks it', async () => {
    const run = await createRunAndWait(server, 'app', { input: { text: `${'x'.repeat(70_000)}\nshort\n` } });
    const { items } = await follow(run.id);
    expect(items).toHaveLength(2);
    expect(items[0]?.log.startsWith('x'.repeat(65_536))).toBe(true);
    expect(items[0]?.log).toMatch(/cut/);
    expect(items[1]?.log).toBe('short');
  });

  test('gets a 400 for an invalid token, and begins at the first line for an empty one', async () => {
    const run = await createRunAndWait(server, 'app', { input: { lines: 1 } });
    for (const since of ['x', '-1', '1.5', '9'.repeat(20)])
      expect((await server.request('GET', path(run.id, `/logs/live?since=${since}`))).status).toBe(400);
    const empty = await server.request('GET', path(run.id, '/logs/live?since='));
    expect((empty.body as LiveLog).items).toHaveLength(1);
  });

  test('is deleted after 24 hours; the whole log stays', async () => {
    const run = await createRunAndWait(server, 'app', { input: { text: 'line\n' } });
    shiftMs = DAY_MS - 60_000;
    await server.restart();
    expect((await getLivePage(run.id)).items).toHaveLength(1);
    shiftMs = DAY_MS + 60_000;
    await server.restart();
    await expect.poll(async () => (await getLivePage(run.id)).items.length).toBe(0);
    expect(await getLivePage(run.id)).toMatchObject({ items: [], status_v2: 'succeeded' });
    expect((await server.request('GET', path(run.id, '/logs'))).body).toEqual({ log: 'line\n' });
    shiftMs = 0;
  });
});

test('the transaction that deletes a run deletes its lines, so that a crash leaves none', async () => {
  const listLines = () => {
    const { read } = server.runningServer.database;
    return read.selectFrom('log_chunks').select('seq').where('run_id', '=', run.id).execute();
  };
  const run = await createRunAndWait(server, 'app', { input: { lines: 3 } });
  expect(await listLines()).not.toEqual([]);
  // The notification follows the commit, before any later step of the deletion.
  const linesAfterCommit = new Promise<unknown>((resolve) => {
    const stop = server.runningServer.database.listen('runs-canceled', () => {
      stop();
      resolve(listLines());
    });
  });
  expect((await server.request('DELETE', path(run.id, ''))).status).toBe(204);
  expect(await linesAfterCommit).toEqual([]);
});
