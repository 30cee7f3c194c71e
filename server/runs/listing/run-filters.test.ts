/** Lists of runs filter and sort by columns, words, indicators and options, by pages over runs of one instant. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun } from '../../testing/fixtures/apps.ts';
import { createInstance, expectError, expectStatus, listAllPages } from '../../testing/fixtures/resources.ts';
import { endRunsWith, type RunOutcome } from '../../testing/fixtures/run-outcomes.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const STARTED_AT = Date.parse('2026-11-20T08:00:00.000Z');
const clock = createManualClock(STARTED_AT);
const RUNS = 40;
/** So many runs have one timestamp, more than a page of this test. */
const RUNS_PER_INSTANT = 10;
const PAGE_RUNS = 7;
const STEP_MS = 1000;

/** A run, and what the requests and the test gave it. */
interface KnownRun {
  id: string;
  number: number;
  at: number;
  status: string;
  instance: string;
  name: string;
  effort: string;
  solver: string;
  value?: number;
  label?: string;
}

let server: TestServer;
let path: string;
let other: string;
const runs: KnownRun[] = [];

/** Returns the tags of a run; every fourth has both, and odd ones have none. */
const listTags = (number: number): string[] => [
  ...(number % 2 === 0 ? ['board, meeting'] : []),
  ...(number % 4 === 0 ? ['Referenz ü'] : []),
];

/** Returns the outcome of a run that has ended; the last runs stay queued. */
function chooseOutcome(number: number): RunOutcome | undefined {
  if (number >= RUNS - 6) return undefined;
  if (number % 7 === 0) return 'failed';
  return { 'result.value': 10 * (number % 6) - 25, 'result.custom.kind': number % 2 ? 'odd, one' : 'even' };
}

async function createKnownRun(application: string, number: number): Promise<KnownRun> {
  const name = number % 4 === 0 ? '' : `Tour ${number % 4} Zürich`;
  const instance = number % 3 === 0 ? 'i1' : 'latest';
  const options = { effort: String(number % 5), solver: number % 2 ? 'highs' : 'Ça:va' };
  const external = { configuration: { run_type: { type: 'external' } } };
  const isExternal = number === 3;
  const body = { name, options, description: number === 8 ? 'Night shift' : '', ...(isExternal && external) };
  const id = await createRun(server, application, { instance, input: {}, body });
  const outcome = isExternal ? undefined : chooseOutcome(number);
  const status = isExternal ? 'none' : outcome === undefined ? 'queued' : 'succeeded';
  return {
    id,
    number,
    at: clock.now(),
    status: outcome === 'failed' ? 'failed' : status,
    instance,
    name,
    effort: options.effort,
    solver: options.solver,
    ...(typeof outcome === 'object' && {
      value: Number(outcome['result.value']),
      label: String(outcome['result.custom.kind']),
    }),
  };
}

beforeAll(async () => {
  server = await startTestServer({ clock, env: { SWITCHYARD_CAPACITY: '0,16c60gb12h=1' } });
  const application = await createInstance(server);
  path = `/v1/applications/${application}/runs`;
  other = await createInstance(server);
  const foreign = await createRun(server, other, { input: {}, body: { name: 'Tour 1 Zürich' } });
  for (let number = 0; number < RUNS; number += 1) {
    runs.push(await createKnownRun(application, number));
    if (number % RUNS_PER_INSTANT === RUNS_PER_INSTANT - 1) clock.advance(STEP_MS);
  }
  const ended = runs.flatMap(({ id, number, status }) => {
    const outcome = status === 'none' ? undefined : chooseOutcome(number);
    return outcome === undefined ? [] : ([[id, outcome]] as const);
  });
  for (const { id, number } of runs) {
    const body = { tags: listTags(number) };
    expectStatus(await server.request('PUT', `${path}/${id}/tags`, { body }), 200);
  }
  await endRunsWith(server, new Map([...ended, [foreign, { 'result.value': 1 }]]), clock.now());
});
afterAll(() => server.close());

const byTime = (one: KnownRun, two: KnownRun): number => one.at - two.at || (one.id < two.id ? -1 : 1);
const newestFirst = (one: KnownRun, two: KnownRun): number => byTime(two, one);

async function list(query: string): Promise<string[]> {
  return (await listAllPages(server, `${path}?${query}`, PAGE_RUNS)).flat();
}

const at = (instant: number): string => new Date(STARTED_AT + instant * STEP_MS).toISOString();

test.each<[string, (run: KnownRun) => boolean]>([
  ['status=succeeded', ({ status }) => status === 'succeeded'],
  ['status=failed', ({ status }) => status === 'failed'],
  ['status=queued', ({ status }) => status === 'queued'],
  ['status=none', ({ status }) => status === 'none'],
  ['status=failed,none', ({ status }) => status === 'failed' || status === 'none'],
  ['status=queued,failed,running', ({ status }) => status === 'queued' || status === 'failed'],
  ['instance_id=i1,i2,latest,i1', () => true],
  ['version_id=,v2', ({ instance }) => instance === 'latest'],
  ['run_type=external,ensemble', ({ status }) => status === 'none'],
  ['status=running', () => false],
  [`tag=${encodeURIComponent('board\\, meeting')}`, ({ number }) => number % 2 === 0],
  [`tag=${encodeURIComponent('none,Referenz ü')}`, ({ number }) => number % 4 === 0],
  [`tag=${encodeURIComponent('board\\, meeting,Referenz ü')}`, ({ number }) => number % 2 === 0],
  ['tag=board', () => false],
  [
    `tag=${encodeURIComponent('Referenz ü')}&status=queued,succeeded&option=effort:1..`,
    ({ number, status, effort }) =>
      number % 4 === 0 && (status === 'queued' || status === 'succeeded') && effort !== '0',
  ],
  ['instance_id=i1', ({ instance }) => instance === 'i1'],
  ['version_id=v1', ({ instance }) => instance === 'i1'],
  ['version_id=', ({ instance }) => instance === 'latest'],
  ['run_type=external', ({ status }) => status === 'none'],
  ['run_type=standard', ({ status }) => status !== 'none'],
  ['run_type=ensemble', () => false],
  ['user_email=nobody@example.com', () => false],
  [`name=${encodeURIComponent('Tour 1 Zürich')}`, ({ name }) => name === 'Tour 1 Zürich'],
  ['name=Tour', () => false],
  ['text=tour', ({ name }) => name !== ''],
  [`text=${encodeURIComponent('ZÜ 2')}`, ({ name }) => name === 'Tour 2 Zürich'],
  ['text=night+shi', ({ number }) => number === 8],
  ['text=ight', () => false],
  [`created_after=${at(3)}`, ({ number }) => number >= 30],
  [`created_before=${at(3)}`, ({ number }) => number < 30],
  [
    `start=${at(1)}&created_after=${at(2)}&created_before=${at(4)}`,
    ({ number }) => number >= 20 && number < 40,
  ],
  ['indicator=result.value:-5..15', ({ value }) => value !== undefined && value >= -5 && value <= 15],
  ['indicator=result.value:..-25', ({ value }) => value === -25],
  ['indicator=result.value:5.1..', ({ value }) => value !== undefined && value > 5.1],
  ['indicator=result.value:1.5e1', ({ value }) => value === 15],
  ['indicator=result.value:99..', () => false],
  ['indicator=result.unknown:..1', () => false],
  [`indicator=${encodeURIComponent('result.custom.kind:odd\\, one')}`, ({ label }) => label === 'odd, one'],
  ['option=effort:2..3', ({ effort }) => effort === '2' || effort === '3'],
  ['option=solver:highs', ({ solver }) => solver === 'highs'],
  [`option=${encodeURIComponent('solver:Ça\\:va')}`, ({ solver }) => solver === 'Ça:va'],
  [`option=${encodeURIComponent('solver:Ça:va')}`, ({ solver }) => solver === 'Ça:va'],
  [
    'status=queued,succeeded&instance_id=latest,i2&indicator=result.value:..5',
    ({ instance, value }) => instance === 'latest' && (value ?? 99) <= 5,
  ],
  [
    'status=failed,queued&option=effort:1..2',
    ({ status, effort }) =>
      (status === 'failed' || status === 'queued') && (effort === '1' || effort === '2'),
  ],
  [
    'status=succeeded&instance_id=i1&option=effort:1..,solver:highs&indicator=result.value:..5&text=tour',
    (run) =>
      run.status === 'succeeded' &&
      run.instance === 'i1' &&
      run.effort !== '0' &&
      run.solver === 'highs' &&
      (run.value ?? 99) <= 5 &&
      run.name !== '',
  ],
])('%s lists exactly these runs, newest first, and counts them', async (query, isExpected) => {
  const expected = runs.filter(isExpected).sort(newestFirst);
  expect(await list(query)).toEqual(expected.map(({ id }) => id));
  expect(await count(query)).toEqual(countExpected(expected));
});

async function count(query: string, token = server.token) {
  const response = await server.request('GET', `${path.replace(/runs$/, 'run-counts')}?${query}`, { token });
  expectStatus(response, 200);
  const { median_execution_duration: _, ...counts } = response.body as Record<string, unknown>;
  return counts;
}

function countExpected(expected: readonly KnownRun[]) {
  const statuses = { none: 0, queued: 0, running: 0, succeeded: 0, failed: 0, canceled: 0 };
  for (const { status } of expected) statuses[status as keyof typeof statuses] += 1;
  return { runs: expected.length, is_complete: true, statuses };
}

test('without a filter all runs of the application are counted', async () => {
  expect(await count('')).toEqual(countExpected(runs));
});

test('the tags of all runs are listed once, sorted', async () => {
  const tags = async (application: string) =>
    (await server.request('GET', `/v1/applications/${application}/tags`)).body;
  expect(await tags(path.split('/')[3] ?? '')).toEqual({ tags: ['Referenz ü', 'board, meeting'] });
  expect(await tags(other)).toEqual({ tags: [] });
});

/** Orders by a value, then time; runs without a value and queued runs come last, newest first. */
function sortBy(read: (run: KnownRun) => number | string | undefined, isDescending: boolean): KnownRun[] {
  const has = (run: KnownRun): boolean => run.status !== 'queued' && read(run) !== undefined;
  const compare = (one: KnownRun, two: KnownRun): number => {
    const [a = '', b = ''] = [read(one), read(two)];
    const order = a < b ? -1 : a > b ? 1 : byTime(one, two);
    return isDescending ? -order : order;
  };
  return [...runs.filter(has).sort(compare), ...runs.filter((run) => !has(run)).sort(newestFirst)];
}

test.each<[string, () => KnownRun[]]>([
  ['-created_at', () => [...runs].sort(newestFirst)],
  ['created_at', () => [...runs].sort(byTime)],
  ['name', () => sortBy(({ name }) => name || undefined, false)],
  ['-status', () => sortBy(({ status }) => status, true)],
  ['indicator.result.value', () => sortBy(({ value }) => value, false)],
  ['-indicator.result.value', () => sortBy(({ value }) => value, true)],
  ['-option.effort', () => sortBy(({ effort }) => Number(effort), true)],
  ['option.unknown', () => [...runs].sort(newestFirst)],
])('sort=%s orders all runs', async (sort, order) => {
  expect(await list(`sort=${sort}`)).toEqual(order().map(({ id }) => id));
});

test('a filter applies to both parts of a sorted list', async () => {
  const expected = sortBy(({ value }) => value, true).filter(({ solver }) => solver === 'highs');
  expect(await list('sort=-indicator.result.value&option=solver:highs')).toEqual(
    expected.map(({ id }) => id),
  );
});

test('a filter by tag applies to both parts of a sorted list', async () => {
  const expected = sortBy(({ value }) => value, false).filter(({ number }) => number % 4 === 0);
  const tag = encodeURIComponent('Referenz ü');
  expect(await list(`sort=indicator.result.value&tag=${tag}`)).toEqual(expected.map(({ id }) => id));
});

test.each(['status', '-status'])('several values and the order %s of one field', async (sort) => {
  const expected = sortBy(({ status }) => status, sort === '-status').filter(
    ({ status }) => status !== 'succeeded',
  );
  expect(await list(`sort=${sort}&status=queued,none,failed`)).toEqual(expected.map(({ id }) => id));
});

test.each([
  ['page=2', 'page'],
  ['status=done', 'status'],
  ['status=failed,done', 'done'],
  ['run_type=', 'run_type'],
  [`user_email=${Array.from({ length: 21 }, (_, number) => `u${number}`)}`, '20'],
  ['status=failed&status=queued', 'give it once'],
  ['name=', 'name'],
  ['tag=,', 'tag'],
  [`tag=${Array.from({ length: 21 }, (_, number) => number)}`, '20'],
  ['text=%20-%20', 'a letter or a digit'],
  ['created_after=yesterday', 'created_after'],
  [`created_after=${at(2)}&created_before=${at(1)}`, 'not before'],
  ['indicator=result.value', 'NAME:VALUE'],
  ['indicator=:3', 'NAME:VALUE'],
  ['indicator=result.value:5..1', 'empty'],
  ['option=effort:1..many', 'both ends must be numbers'],
  ['option=a:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1,i:1,j:1,k:1', '10'],
  ['sort=duration', 'sort'],
  ['sort=-', 'sort'],
  ['sort=option.', 'sort'],
  ['name=%00', 'name'],
])('%s is a 400', async (query, word) => {
  expectError(await server.request('GET', `${path}?${query}`), 400, word);
});

test.each([
  `option=${encodeURIComponent("'; drop table runs; --:..")}`,
  `indicator=${encodeURIComponent('\\:\\\\')}:1`,
  `sort=indicator.${encodeURIComponent('"%\u{10ffff}')}`,
  `text=${encodeURIComponent('\u{1f69a} %_* a')}`,
  'indicator=result.value:1e999',
  `option=effort:${'9'.repeat(400)}`,
])('hostile %s finds what it says, and nothing fails', async (query) => {
  expectStatus(await server.request('GET', `${path}?${query}`), 200);
});

test('a page token belongs to its filter and its order', async () => {
  const first = await server.request('GET', `${path}?sort=name&limit=1`);
  const { next_page_token: token } = first.body as { next_page_token: string };
  for (const query of ['sort=-name', 'sort=name&status=failed', ''])
    expectError(await server.request('GET', `${path}?${query}&pagetoken=${token}`), 400, 'pagetoken');
});

describe('a run that changes', () => {
  const listNow = async (query: string): Promise<string[]> => {
    const response = await server.request('GET', `/v1/applications/${other}/runs?${query}`);
    expectStatus(response, 200);
    return (response.body as { runs: { id: string }[] }).runs.map(({ id }) => id);
  };

  test('is found by its new name, status and result at once, and not after its deletion', async () => {
    const external = { name: 'Before', configuration: { run_type: { type: 'external' } } };
    const run = await createRun(server, other, { input: {}, body: external });
    const runPath = `/v1/applications/${other}/runs/${run}`;
    expect(await listNow('status=none&text=before')).toEqual([run]);
    expectStatus(
      await server.request('PUT', runPath, { body: { name: 'After', description: 'By night' } }),
      200,
    );
    expect(await listNow('name=Before')).toEqual([]);
    expect(await listNow('text=aft+nig')).toEqual([run]);
    expectStatus(await server.request('PUT', runPath, { body: { result: { status: 'failed' } } }), 200);
    expect(await listNow('status=none')).toEqual([]);
    expect(await listNow('status=failed&name=After')).toEqual([run]);
    expectStatus(await server.request('DELETE', runPath), 204);
    expect(await listNow('status=failed')).toEqual([]);
  });

  test('is found when it is created with its result', async () => {
    const run = await createRun(server, other, { input: {}, body: { name: 'Done', result: {} } });
    expect(await listNow('status=succeeded&name=Done')).toEqual([run]);
  });

  test('is found by a tag while it has the tag', async () => {
    const run = await createRun(server, other, { input: {} });
    const runPath = `/v1/applications/${other}/runs/${run}`;
    const setTags = (tags: string[]) => server.request('PUT', `${runPath}/tags`, { body: { tags } });
    await setTags(['old', 'both']);
    expect(await listNow('tag=old,both')).toEqual([run]);
    await setTags(['both', 'new']);
    expect(await listNow('tag=old')).toEqual([]);
    expect(await listNow('tag=new&status=queued')).toEqual([run]);
    expectStatus(await server.request('PATCH', `${runPath}/cancel`), 204);
    expect(await listNow('tag=new&status=canceled')).toEqual([run]);
    expectStatus(await server.request('DELETE', runPath), 204);
    expect(await listNow('tag=both')).toEqual([]);
  });

  test('is found as canceled once it is canceled', async () => {
    const run = await createRun(server, other, { input: {}, body: { name: 'Waits' } });
    expect(await listNow('status=queued&name=Waits')).toEqual([run]);
    expectStatus(await server.request('PATCH', `/v1/applications/${other}/runs/${run}/cancel`), 204);
    expect(await listNow('status=queued&name=Waits')).toEqual([]);
    expect(await listNow('status=canceled')).toEqual([run]);
  });
});
