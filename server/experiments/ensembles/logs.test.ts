/** Logs of ensemble runs: the lines of the child runs, merged by time, each with its run group and run in front. */

import type { LiveLog } from '@switchyard/contract/runs/run-logs.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { CHUNKS_PER_CLAIM, type StoredLogLine } from '@switchyard/worker/log/log-batch.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countLineChars } from '../../runs/logs/log-batches.ts';
import { insertLogChunk } from '../../runs/store/log-chunks.ts';
import { createRun, createRunAndWait, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import {
  createEnsemble,
  createEnsembleApp,
  ensembleRunOptions,
  ensembleRunType,
  fetchEnsembleRun,
  runGroup,
} from '../../testing/fixtures/ensembles.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const HOUR_MS = 60 * 60 * 1000;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '2' } });
  await createEnsembleApp(server, [
    runGroup('a', { value: 1 }, { repetitions: 2 }),
    runGroup('b', { fails: true }),
  ]);
  await createEnsemble(server, 'waiting', [runGroup('a', { waits: true }), runGroup('b', { waits: true })]);
});
afterAll(() => server.close());

const path = (run: string, rest: string): string => `/v1/applications/app/runs/${run}${rest}`;
const cancel = (run: string) => server.request('PATCH', path(run, '/cancel'));
const readWholeLog = async (run: string): Promise<string> =>
  ((await server.request('GET', path(run, '/logs'))).body as { log: string }).log;

/** Reads one page of the live log. */
async function readLiveLog(run: string, since?: string): Promise<LiveLog> {
  const { body } = await server.client.call('getRunLiveLogs', {
    params: { application_id: 'app', run_id: run },
    ...(since === undefined ? {} : { query: { since } }),
  });
  return body;
}

/** Follows the log from the page on, until a terminal status or a page without lines. */
async function follow(run: string, from?: string): Promise<LiveLog[]> {
  const pages: LiveLog[] = [];
  for (let since = from; ; ) {
    const page = await readLiveLog(run, since);
    pages.push(page);
    since = page.next_page_token;
    if (isTerminal(page.status_v2) || page.items.length === 0) return pages;
    expect(page.next_available_in_seconds).toBeGreaterThanOrEqual(1);
  }
}
const listLines = (pages: readonly LiveLog[]): string[] =>
  pages.flatMap((page) => page.items.map(({ log }) => log));

/** An ensemble run whose two child runs, `a` and `b`, have logged `begun` and wait. */
async function startWaitingEnsemble(): Promise<{ run: string; a: RunId; b: RunId }> {
  const run = await createRun(
    server,
    'app',
    ensembleRunOptions({ configuration: ensembleRunType('waiting') }),
  );
  const [a, b] = await server.waitUntil('log-lines', async () => {
    const hasBegun = listLines([await readLiveLog(run)]).length === 2;
    return hasBegun && (await fetchEnsembleRun(server, run)).child_runs.map(({ id }) => id as RunId);
  });
  return { run, a: a as RunId, b: b as RunId };
}

/** Stores a chunk of lines as the worker of the run does. */
async function storeLines(run: RunId, seq: number, lines: StoredLogLine[]): Promise<void> {
  const at = Math.floor((lines[0]?.[0] ?? 0) / 1000);
  const size = { lines_so_far: lines.length, chars_so_far: countLineChars(lines) };
  const chunk = { run_id: run, seq: CHUNKS_PER_CLAIM + seq, at, lines: JSON.stringify(lines), ...size };
  await server.runningServer.database.transact((tx) => insertLogChunk(tx, chunk));
}

test('B12: the log of an ensemble run has the lines of each child run, each with its group and id', async () => {
  const done = await createRunAndWait(server, 'app', ensembleRunOptions());
  const runs = (await fetchEnsembleRun(server, done.id)).child_runs;
  const expected = runs.map(({ id, run_group_id }) => `${run_group_id}/${id} | begun`);
  expect(expected).toHaveLength(3);
  expect((await readWholeLog(done.id)).split('\n').sort()).toEqual(['', ...expected].sort());
  const [page, ...more] = await follow(done.id);
  expect(more).toEqual([]);
  expect(page).toMatchObject({ status_v2: 'succeeded', next_available_in_seconds: 0 });
  expect(listLines([page as LiveLog]).sort()).toEqual(expected.sort());
});

test('B12: lines of child runs that run at the same time are interleaved by time, live and whole', async () => {
  const { run, a, b } = await startWaitingEnsemble();
  const begun = await readLiveLog(run);
  const now = Date.now() * 1000;
  // Chunks overlap: the second line of each is later than the first line of the other.
  await storeLines(a, 100, [
    [now + 1, 'one'],
    [now + 5000, 'three'],
  ]);
  await storeLines(b, 100, [
    [now + 2, 'two'],
    [now + 9000, 'four'],
  ]);
  const expected = [`a/${a} | one`, `b/${b} | two`, `a/${a} | three`, `b/${b} | four`];
  const page = await readLiveLog(run, begun.next_page_token);
  expect(listLines([page])).toEqual(expected);
  expect(page.status_v2).toBe('running');
  expect((await readLiveLog(run, page.next_page_token)).items).toEqual([]);
  await cancel(run);
  await waitForRunEnd(server, 'app', run);
  expect(await readLiveLog(run, page.next_page_token)).toMatchObject({ items: [], status_v2: 'canceled' });
  const whole = (await readWholeLog(run)).split('\n').slice(0, -1);
  expect(whole.slice(0, 2).sort()).toEqual([`a/${a} | begun`, `b/${b} | begun`]);
  expect(whole.slice(2)).toEqual(expected);
});

test('B12: pages of a long log have every line once, and the last page has the terminal status', async () => {
  const { run, a, b } = await startWaitingEnsemble();
  const begun = await readLiveLog(run);
  const now = Date.now() * 1000;
  // Line n is n ms after now. Run a has the even lines, run b the odd ones: 250 in a chunk, chunk numbers 30 apart.
  const expected = Array.from({ length: 6000 }, (_, n) => `${n % 2 ? `b/${b}` : `a/${a}`} | line ${n}`);
  for (const [at, id] of [a, b].entries())
    for (let chunk = 0; chunk < 12; chunk += 1) {
      const lines = Array.from({ length: 250 }, (_, n): StoredLogLine => {
        const number = (chunk * 250 + n) * 2 + at;
        return [now + number * 1000, `line ${number}`];
      });
      await storeLines(id, 100 + chunk * 30, lines);
    }
  const pages = await follow(run, begun.next_page_token);
  expect(pages.length).toBeGreaterThan(3);
  expect(pages.every(({ items }) => items.length <= 1250)).toBe(true);
  expect(listLines(pages).sort()).toEqual([...expected].sort());
  await cancel(run);
  await waitForRunEnd(server, 'app', run);
  const again = await follow(run, begun.next_page_token);
  expect(listLines(again)).toEqual(listLines(pages));
  expect(again.map(({ status_v2 }) => isTerminal(status_v2))).toEqual(
    again.map((_, index) => index === again.length - 1),
  );
  const whole = (await readWholeLog(run)).split('\n').slice(2, -1);
  expect(whole).toEqual(expected);
});

test('B12: lines older than 24 hours are not in the live log and form a block in the finished log', async () => {
  const { run, a, b } = await startWaitingEnsemble();
  await cancel(a);
  await waitForRunEnd(server, 'app', a);
  const { database } = server.runningServer;
  await database.transact(async (tx) => {
    const initiated_at = Date.now() - 24 * HOUR_MS;
    await tx.updateTable('runs').set({ initiated_at }).where('id', '=', a).execute();
    await tx.deleteFrom('log_chunks').where('run_id', '=', a).execute();
  });
  expect(listLines([await readLiveLog(run)])).toEqual([`b/${b} | begun`]);
  await cancel(b);
  await waitForRunEnd(server, 'app', run);
  expect(await readWholeLog(run)).toBe(`a/${a} | begun\nb/${b} | begun\n`);
  expect(listLines(await follow(run))).toEqual([`b/${b} | begun`]);
});

test('B12: a live log rejects a position that is not one of this ensemble run', async () => {
  const done = await createRunAndWait(server, 'app', ensembleRunOptions());
  const statusAt = async (since: string) =>
    (await server.request('GET', path(done.id, `/logs/live?since=${since}`))).status;
  for (const since of ['1', 'x', 'e', 'e1', 'e1.1.1.1', 'e1.-1.1', 'eZ.1.1', `e1.1.${'z'.repeat(11)}`])
    expect(await statusAt(since), since).toBe(400);
  expect(await statusAt('')).toBe(200);
});
