/** Search in logs over HTTP: of one run, active or ended, and of the runs of an application. */
import { join } from 'node:path';
import { LOG_SEARCH_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { LogMatch, RunLogMatches } from '@switchyard/contract/runs/logs/log-search.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { getApplication } from '../../apps/applications/store.ts';
import { Contents } from '../../platform/blobs/contents.ts';
import { openDiskBlobs } from '../../platform/blobs/disk.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { systemRandom } from '../../platform/random.ts';
import { multiplyRows, PADDED_ROW_NUMBER } from '../../testing/database/multiply-rows.ts';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import {
  createRun,
  createRunAndWait,
  pushApp,
  waitForLogLine,
  waitForRunEnd,
} from '../../testing/fixtures/apps.ts';
import { expectError, expectStatus, uploadContent } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { encodeText } from '../values/encode-value.ts';
import { hashField } from '../values/run-values.ts';
import { LogSearch, type RunsRequest, type RunsSearchPosition } from './log-search.ts';

/** Prints the text of the option `log`, and waits with the option `waits`. */
const MAIN = `#!/bin/sh
log='' waits=''
while [ $# -gt 0 ]; do
  case "$1" in -log) log=$2;; -waits) waits=$2;; esac
  shift 2
done
printf "$log" >&2
if [ -n "$waits" ]; then echo later >&2; trap 'exit 0' TERM; while :; do sleep 0.02; done; fi
echo '{}'
`;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  for (const application of ['app', 'others'])
    await pushApp(server, application, { main: MAIN }, { executable_type: 'binary', runtime: 'native' });
});
afterAll(() => server.close());

const logOptions = (log: string, options: Record<string, string> = {}) => ({
  input: {},
  body: { options: { log, ...options } },
});
const runPath = (run: string, rest: string): string => `/v1/applications/app/runs/${run}/logs/${rest}`;

interface Page<Item> {
  items: Item[];
  examined_runs?: number;
  next_page_token?: string;
}

/** Reads all pages of a search. */
async function search<Item>(path: string, query: Record<string, string>): Promise<Page<Item>[]> {
  const pages: Page<Item>[] = [];
  let token: string | undefined;
  do {
    const search = new URLSearchParams({ ...query, ...(token === undefined ? {} : { pagetoken: token }) });
    const response = await server.request('GET', `${path}?${search}`);
    expectStatus(response, 200);
    const page = response.body as Page<Item>;
    pages.push(page);
    token = page.next_page_token;
  } while (token !== undefined);
  return pages;
}

const listItems = <Item>(pages: Page<Item>[]): Item[] => pages.flatMap(({ items }) => items);
const searchRun = (run: string, query: Record<string, string>) =>
  search<LogMatch>(runPath(run, 'search'), query);
const listNumbers = (pages: Page<LogMatch>[]): number[] => listItems(pages).map(({ line }) => line);

describe('a search in the log of a run', () => {
  test('has the lines of an ended run with number, time and level, in pages', async () => {
    const run = await createRunAndWait(server, 'app', logOptions('Start\\nWARNING slow\\n\\nerror: Slow\\n'));
    const all = listItems(await searchRun(run.id, {}));
    expect(all.map(({ timestamp: _, ...line }) => line)).toEqual([
      { line: 1, level: 'info', log: 'Start', truncated: false },
      { line: 2, level: 'warning', log: 'WARNING slow', truncated: false },
      { line: 3, level: 'info', log: '', truncated: false },
      { line: 4, level: 'error', log: 'error: Slow', truncated: false },
    ]);
    const live = await server.client.call('getRunLiveLogs', {
      params: { application_id: 'app', run_id: run.id },
    });
    expect(all.map(({ timestamp }) => timestamp)).toEqual(
      live.body.items.map(({ timestamp }) => timestamp.replace(/\d{3}Z$/, 'Z')),
    );
    const pages = await searchRun(run.id, { text: 'sLOW', limit: '1' });
    expect(pages.map(({ items }) => items.map(({ line }) => line))).toEqual([[2], [4]]);
    expect(listNumbers(await searchRun(run.id, { text: 'slow', level: 'error' }))).toEqual([4]);
    expect(listNumbers(await searchRun(run.id, { text: 'absent' }))).toEqual([]);
  });

  test('has the lines of an active run, and continues after its end', async () => {
    const id = await createRun(server, 'app', logOptions('one\\ntwo\\none\\n', { waits: '1' }));
    await waitForLogLine(server, 'app', id, 'later');
    expect(listItems(await searchRun(id, {})).map(({ log }) => log)).toEqual(['one', 'two', 'one', 'later']);
    const path = runPath(id, 'search?text=one&limit=1');
    const first = (await server.request('GET', path)).body as Page<LogMatch>;
    expect(first.items).toMatchObject([{ line: 1, timestamp: expect.stringContaining('Z') }]);
    expectError(await server.request('GET', runPath(id, 'times')), 400, 'running');
    await server.request('PATCH', `/v1/applications/app/runs/${id}/cancel`);
    await waitForRunEnd(server, 'app', id);
    const second = await server.request('GET', `${path}&pagetoken=${first.next_page_token}`);
    expect((second.body as Page<LogMatch>).items).toMatchObject([{ line: 3, log: 'one' }]);
    expect(listNumbers(await searchRun(id, { text: 'one' }))).toEqual([1, 3]);
  });

  test('continues behind the bytes that one request examines', async () => {
    const filler = `${'x'.repeat(999)}\n`.repeat(LOG_SEARCH_BYTES_MAX / 1000 + 1);
    const lines = filler.length / 1000;
    const id = await createExternalRun(`needle\n${filler}Needle\n`);
    const pages = await searchRun(id, { text: 'needle' });
    expect(pages.length).toBeGreaterThan(1);
    expect(listItems(pages)).toEqual([
      { line: 1, level: 'info', log: 'needle', truncated: false },
      { line: lines + 2, level: 'info', log: 'Needle', truncated: false },
    ]);
    expect((await server.request('GET', runPath(id, 'times'))).body).toEqual({ steps: [] });
  });

  test('refuses tokens of other searches, line breaks and other accounts', async () => {
    const run = await createRunAndWait(server, 'app', logOptions('a\\na\\n'));
    const { body } = await server.request('GET', runPath(run.id, 'search?text=a&limit=1'));
    const token = (body as Page<LogMatch>).next_page_token;
    const get = (rest: string, token?: string) =>
      server.request('GET', runPath(run.id, rest), token === undefined ? {} : { token });
    expectStatus(await get(`search?text=a&pagetoken=${token}`), 200);
    expectError(await get(`search?text=b&pagetoken=${token}`), 400, 'pagetoken');
    expectError(await get('search?text=a%0Ab'), 400, 'line break');
    for (const query of [
      'text=',
      `text=${'x'.repeat(201)}`,
      'level=loud',
      'limit=0',
      'limit=1001',
      'regex=1',
    ])
      expectStatus(await get(`search?${query}`), 400);
    const other = await createOtherAccount(server);
    for (const rest of ['search', 'times'])
      expectError(await get(rest, other.token), 404, 'There is no application "app".');
    expectError(
      await server.request('GET', runPath('run-none', 'search')),
      404,
      'There is no run "run-none"',
    );
  });
});

/** Creates an external run of `app` with the log. */
async function createExternalRun(log: string): Promise<string> {
  const result = {
    status: 'succeeded',
    execution_duration: 1,
    error_upload_id: await uploadContent(server, 'app', log),
  };
  return createRun(server, 'app', {
    input: {},
    body: { configuration: { run_type: { type: 'external' } }, result },
  });
}

test('the times of the lines of an ended run are those of its live log', async () => {
  const run = await createRunAndWait(server, 'app', logOptions('a\\nb\\n'));
  const params = { application_id: 'app', run_id: run.id };
  const { start, steps } = (await server.client.call('getRunLogTimes', { params })).body;
  const { items } = (await server.client.call('getRunLiveLogs', { params })).body;
  expect(steps.reduce((sum, [, lines = 0]) => sum + lines, 0)).toBe(2);
  const elapsed = steps.reduce((sum, [ms = 0]) => sum + ms, 0);
  expect([start, Date.parse(start ?? '') + elapsed]).toEqual([
    items[0]?.timestamp.replace(/\d{3}Z$/, 'Z'),
    Math.floor(Date.parse(items[1]?.timestamp ?? '')),
  ]);
});

describe('a search in the logs of an application', () => {
  const path = '/v1/applications/others/logs/search';

  test('has the runs with matching lines, newest first, with their first lines', async () => {
    const ids: string[] = [];
    for (const log of [
      'infeasible\\n',
      'fine\\n',
      'Infeasible 1\\nx\\ninfeasible 2\\ninfeasible\\ninfeasible\\n',
      '',
    ])
      ids.push((await createRunAndWait(server, 'others', logOptions(log))).id);
    const active = await createRun(server, 'others', logOptions('infeasible\\n', { waits: '1' }));
    await waitForLogLine(server, 'others', active, 'infeasible');
    const pages = await search<RunLogMatches>(path, { text: 'infeasible', limit: '2' });
    expect(pages.map(({ items }) => items.map(({ run_id }) => run_id))).toEqual([[active, ids[2]], [ids[0]]]);
    expect(pages.reduce((sum, { examined_runs = 0 }) => sum + examined_runs, 0)).toBe(5);
    expect(pages[0]?.items[1]).toMatchObject({
      status_v2: 'succeeded',
      lines: [{ line: 1 }, { line: 3, timestamp: expect.any(String) }, { line: 4 }],
      has_more_lines: true,
    });
    const ended = listItems(await search<RunLogMatches>(path, { text: 'infeasible', status: 'succeeded' }));
    expect(ended.map(({ run_id }) => run_id)).toEqual([ids[2], ids[0]]);
    const of = (created: string) =>
      search<RunLogMatches>(path, { text: 'infeasible', created_after: created });
    expect(listItems(await of(ended[0]?.created_at ?? '')).map(({ run_id }) => run_id)).toEqual([
      active,
      ids[2],
    ]);
    await server.request('PATCH', `/v1/applications/others/runs/${active}/cancel`);
  });

  test('continues within a log that is longer than one request examines', async () => {
    const id = await createExternalRun(`${'x\n'.repeat(LOG_SEARCH_BYTES_MAX / 2)}deep needle\n`);
    const found = listItems(
      await search<RunLogMatches>('/v1/applications/app/logs/search', { text: 'deep needle' }),
    );
    expect(found).toMatchObject([
      { run_id: id, lines: [{ line: LOG_SEARCH_BYTES_MAX / 2 + 1 }], has_more_lines: false },
    ]);
  });

  test('needs a text or a level, and refuses tokens of other searches', async () => {
    expectError(await server.request('GET', path), 400, 'text and level are missing');
    expectStatus(await server.request('GET', `${path}?level=error`), 200);
    expectError(await server.request('GET', `${path}?text=a&pagetoken=AAAA`), 400, 'pagetoken');
    const other = await createOtherAccount(server);
    expectError(await server.request('GET', `${path}?text=a`, { token: other.token }), 404, '"others"');
  });
});

describe('many and long searches', () => {
  const ENDED_RUNS = 12_000;

  /** Returns the searches of a process whose clock says that the time of each is over at once. */
  async function createSearch(): Promise<LogSearch> {
    let now = 0;
    const clock: Clock = {
      ...systemClock,
      elapsed() {
        now += 1000;
        return now;
      },
    };
    const { database } = server.runningServer;
    const blobs = await openDiskBlobs(join(server.dataFolder, 'blobs'));
    return new LogSearch({
      database,
      clock,
      contents: new Contents({ database, blobs, clock, random: systemRandom }),
    });
  }

  async function createRequest(application: string): Promise<RunsRequest> {
    const { read } = server.runningServer.database;
    const account = await read.selectFrom('accounts').select('id').executeTakeFirstOrThrow();
    const found = await getApplication(read, account.id, application as RunsRequest['application']);
    return {
      ...{
        member: 'ada',
        account: account.id,
        application: found.id,
        list: { applicationUid: found.uid, role: 'admin' },
      },
      filter: { conditions: [], sort: null, isDescending: true, start: 0, end: Number.MAX_SAFE_INTEGER },
      ...{ query: { text: 'infeasible' }, from: { after: null, within: null }, limit: 20 },
    };
  }

  test('each request examines a run, also when its time is over before', async () => {
    const logSearch = await createSearch();
    const request = await createRequest('others');
    const examined: number[] = [];
    for (let from: RunsSearchPosition | null = request.from; from !== null; ) {
      const found = await logSearch.searchRuns({ ...request, from });
      examined.push(found.examined);
      from = found.next;
    }
    expect(examined.length).toBeGreaterThan(3);
    expect(examined.every((count, index) => count === 1 || index === examined.length - 1)).toBe(true);
  });

  test('a filter that hardly a run satisfies ends the request with its time, and the next one continues', async () => {
    const logSearch = await createSearch();
    const request = await createRequest('app');
    const { database } = server.runningServer;
    // Many runs satisfy either condition, and none both.
    for (const [name, value] of [
      ['instance_id', 'absent'],
      ['status', 'failed'],
    ] as const) {
      const field = hashField(request.list.applicationUid, name);
      const template = { field, run_id: name as RunId, created_at: 0, value: encodeText(value) };
      await database.transact((tx) => tx.insertInto('run_values').values(template).execute());
      await multiplyRows(database, {
        ...{ table: 'run_values', template: { column: 'run_id', value: name }, count: ENDED_RUNS },
        changes: { created_at: 'n', run_id: `'${name}-' || ${PADDED_ROW_NUMBER}` },
      });
    }
    const match = (name: string, value: string) => ({
      field: name,
      intervals: [{ from: encodeText(value), to: encodeText(value) }],
    });
    const conditions = [match('instance_id', 'absent'), match('status', 'failed')];
    const filter = { ...request.filter, conditions };
    const first = await logSearch.searchRuns({ ...request, filter });
    expect(first).toMatchObject({ examined: 0, runs: [], next: { after: { at: expect.any(Number) } } });
    let requests = 1;
    for (let from = first.next; from !== null; requests += 1)
      from = (await logSearch.searchRuns({ ...request, filter, from })).next;
    expect(requests).toBeLessThan(ENDED_RUNS / 500);
  });

  test('a member with many searches waits for those of others', async () => {
    const logSearch = await createSearch();
    const request = await createRequest('others');
    const order: string[] = [];
    const search = async (member: string): Promise<void> => {
      await logSearch.searchRuns({ ...request, member });
      order.push(member);
    };
    await Promise.all([...Array.from({ length: 5 }, () => search('eve')), search('ada'), search('bob')]);
    expect(order).toEqual(['eve', 'ada', 'bob', 'eve', 'eve', 'eve', 'eve']);
  });
});
