/** Lists of queued runs by filters: with unusual texts, and in a queue of several chunks. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRun } from '../../testing/fixtures/apps.ts';
import { createInstance, listAllPages } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

/** More than a chunk of the scan, so that the oldest run is in the second. */
const OTHER_RUNS = 410;
const LONG = `${'x'.repeat(150)} long`;
/** The names of the runs, each also the value of an option and a description in upper case. */
const NAMES = [
  'Tour Zürich',
  'plain TOUR',
  'izmir İZMİR IZMIR',
  'Kelvin 3\u{212a}',
  '100% done',
  '100 done',
  'under_score',
  'underXscore',
  'back\\slash',
  'quote "x"',
  'true',
  LONG,
];

let server: TestServer;
let path: string;
const names = new Map<string, string>();

beforeAll(async () => {
  server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '0,16c60gb12h=1' } });
  const application = await createInstance(server);
  path = `/v1/applications/${application}/runs`;
  for (const name of NAMES) {
    const body = { name, description: name.toUpperCase(), options: { label: name } };
    names.set(await createRun(server, application, { input: {}, body }), name);
  }
  for (let count = 0; count < OTHER_RUNS; count += 1) await createRun(server, application, { input: {} });
});
afterAll(() => server.close());

/** Returns the names of the runs that the filter lists, sorted. */
async function list(filter: Record<string, string>): Promise<string[]> {
  const query = new URLSearchParams({ status: 'queued', ...filter });
  const ids = (await listAllPages(server, `${path}?${query}`, 50)).flat();
  return ids.map((id) => names.get(id) ?? id).sort();
}

const addBackslashes = (text: string): string => text.replaceAll(/[\\,:]/g, '\\$&');

test.each(NAMES)('the name and the option %j find one run of a queue of two chunks', async (name) => {
  expect(await list({ name })).toEqual([name]);
  expect(await list({ option: `label:${addBackslashes(name)}` })).toEqual([name]);
  expect(await list({ instance_id: 'latest', name })).toEqual([name]);
});

test.each<[string, string[]]>([
  ['tour', ['Tour Zürich', 'plain TOUR']],
  ['TOU', ['Tour Zürich', 'plain TOUR']],
  ['zürich', ['Tour Zürich']],
  ['izmir', ['izmir İZMİR IZMIR']],
  ['3k', ['Kelvin 3\u{212a}']],
  ['100', ['100 done', '100% done']],
  ['under', ['underXscore', 'under_score']],
  ['underx', ['underXscore']],
  ['slash', ['back\\slash']],
  ['done 100', ['100 done', '100% done']],
  ['long', [LONG]],
  ['ong', []],
])('text=%s finds words that begin so, in upper and lower case', async (text, expected) => {
  expect(await list({ text })).toEqual(expected);
});

test('a filter of several instances lists the whole queue, and one of none is empty', async () => {
  const all = await list({ instance_id: 'latest,other,third', sort: 'created_at' });
  expect(all).toHaveLength(NAMES.length + OTHER_RUNS);
  expect(await list({ instance_id: 'other' })).toEqual([]);
});
