/** Logs: refused before the end, followed live, paged, complete, kept for 24 hours. */
import type { LiveLog } from '@switchyard/contract/runs/run-logs.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../clock.ts';
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

/** Real time, which can be moved on. */
let shift = 0;
const clock: Clock = {
  now: () => Date.now() + shift,
  after: systemClock.after,
  elapsed: systemClock.elapsed,
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

async function live(run: string, since?: string): Promise<LiveLog> {
  const { body } = await server.client.call('getRunLiveLogs', {
    params: { application_id: 'app', run_id: run },
    ...(since === undefined ? {} : { query: { since } }),
  });
  return body;
}

/** Follows the log as the published clients do: until a terminal status, and never beyond. */
async function follow(run: string): Promise<{ items: LiveLog['items']; pages: LiveLog[] }> {
  const pages: LiveLog[] = [];
  let since: string | undefined;
  for (;;) {
    const page = await live(run, since);
    pages.push(page);
    since = page.next_page_token ?? since;
    if (isTerminal(page.status_v2)) return { items: pages.flatMap((one) => one.items), pages };
    expect(page.next_available_in_seconds).toBeGreaterThanOrEqual(1);
  }
}

describe('the whole log', () => {
  test('is there after the end and refused before it', async () => {
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
    expect(await live(run.id)).toMatchObject({ items: [], status_v2: 'succeeded' });
  });

  test('keeps quotes, backslashes and characters of every length', async () => {
    const text = '"\\n" \t \u0001 ä € 𝄞\n'.repeat(5000);
    const run = await createRunAndWait(server, 'app', { input: { text } });
    const { body } = await server.client.call('getRunLogs', {
      params: { application_id: 'app', run_id: run.id },
    });
    expect(body.log === text).toBe(true);
  });
});

describe('the live log', () => {
  test('shows lines while the app runs, and goes on where the last answer ended', async () => {
    const run = await createRun(server, 'app', { input: { lines: 3, waits: true } });
    await waitForLogLine(server, 'app', run, 'line 2');
    const first = await live(run);
    expect(first.status_v2).toBe('running');
    expect(first.next_available_in_seconds).toBeGreaterThanOrEqual(1);
    expect(first.items.map((one) => one.log)).toEqual(['line 0', 'line 1', 'line 2']);
    const again = await live(run, first.next_page_token);
    expect(again.items).toEqual([]);
    expect(again.next_page_token).toBe(first.next_page_token);
    await cancel(run);
    await waitForRunEnd(server, 'app', run);
    expect(await live(run, first.next_page_token)).toMatchObject({ items: [], status_v2: 'canceled' });
  });

  test('gives every line, in order, before or with the terminal status', async () => {
    const run = await createRun(server, 'app', { input: { lines: LIVE_LINES } });
    const { items, pages } = await follow(run);
    expect(items).toHaveLength(LIVE_LINES);
    expect(items.every((item, n) => item.log === `line ${n}`)).toBe(true);
    const stamps = items.map((item) => item.timestamp);
    expect(stamps.every((stamp) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(stamp))).toBe(true);
    expect(stamps.every((stamp, n) => n === 0 || stamp > (stamps[n - 1] ?? ''))).toBe(true);
    expect(pages.slice(0, -1).some((page) => isTerminal(page.status_v2))).toBe(false);
    const { items: later } = await follow(run);
    expect(later).toEqual(items);
  });

  test('cuts a line beyond 64 KiB and says so', async () => {
    const run = await createRunAndWait(server, 'app', { input: { text: `${'x'.repeat(70_000)}\nshort\n` } });
    const { items } = await follow(run.id);
    expect(items).toHaveLength(2);
    expect(items[0]?.log.startsWith('x'.repeat(65_536))).toBe(true);
    expect(items[0]?.log).toMatch(/cut/);
    expect(items[1]?.log).toBe('short');
  });

  test('refuses a place that is none, and takes an empty one as the beginning', async () => {
    const run = await createRunAndWait(server, 'app', { input: { lines: 1 } });
    for (const since of ['x', '-1', '1.5', '9'.repeat(20)])
      expect((await server.request('GET', path(run.id, `/logs/live?since=${since}`))).status).toBe(400);
    const empty = await server.request('GET', path(run.id, '/logs/live?since='));
    expect((empty.body as LiveLog).items).toHaveLength(1);
  });

  test('is kept for 24 hours; the whole log stays', async () => {
    const run = await createRunAndWait(server, 'app', { input: { text: 'kept?\n' } });
    shift = DAY_MS - 60_000;
    await server.restart();
    expect((await live(run.id)).items).toHaveLength(1);
    shift = DAY_MS + 60_000;
    await server.restart();
    await expect
      .poll(async () => (await live(run.id)).items.length, { timeout: 10_000, interval: 50 })
      .toBe(0);
    expect(await live(run.id)).toMatchObject({ items: [], status_v2: 'succeeded' });
    expect((await server.request('GET', path(run.id, '/logs'))).body).toEqual({ log: 'kept?\n' });
    shift = 0;
  });
});

test('the lines of a deleted run are gone in the moment in which it is, so that a crash leaves none', async () => {
  const lines = () => {
    const { read } = server.runningServer.database;
    return read.selectFrom('log_chunks').select('seq').where('run_id', '=', run.id).execute();
  };
  const run = await createRunAndWait(server, 'app', { input: { lines: 3 } });
  expect(await lines()).not.toEqual([]);
  // Told once the run is gone, and before anything that is done after it.
  const left = new Promise<unknown>((resolve) => {
    const stop = server.runningServer.database.listen('runs-canceled', () => {
      stop();
      resolve(lines());
    });
  });
  expect((await server.request('DELETE', path(run.id, ''))).status).toBe(204);
  expect(await left).toEqual([]);
});
