/**
 * `npm run bench -- lists`: compares the duration of lists and other requests between a thousand and a million runs.
 * Two servers run side by side, one with few rows and one with many, filled inside the database. The same requests go
 * to both alternately, and the figure is the ratio of their medians. It runs on SQLite, and on PostgreSQL with two
 * kinds of statistics: those of a table that grew a thousandfold since its last vacuum, and fresh ones.
 *
 * The measured application has half of the runs. The others are spread among them in time, over nine more applications
 * of two more accounts. Two runs always have the same timestamp.
 *
 * Flags: `--runs` of the large server, `--queued` runs of both, `--database sqlite` or `postgres`, `--requests` of a
 * measurement, `--pages` to the middle of a list.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { openPostgres } from '../../server/platform/database/postgres/postgres.ts';
import { openSqlite } from '../../server/platform/database/sqlite/sqlite.ts';
import { createLog } from '../../server/platform/log.ts';
import { createDatabase, startPostgres } from '../../server/testing/database/postgres-server.ts';
import { packFiles } from '../../server/testing/fixtures/apps.ts';
import {
  formatRunId,
  type GeneratedRuns,
  generateRuns,
  runCreatedAt,
  SMALLEST_INDICATOR,
} from './generated-runs.ts';
import {
  BENCH_APPLICATION,
  median,
  printLine,
  pushApp,
  type StartedServer,
  startSwitchyard,
} from './harness.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000000' },
    queued: { type: 'string', default: '150' },
    requests: { type: 'string', default: '200' },
    pages: { type: 'string', default: '1000' },
    database: { type: 'string' },
  },
});
const SIZES = { small: 1000, large: Number(values.runs) };
const REQUESTS = Number(values.requests);
/** Maximum number of pages to the middle of a list. */
const PAGES = Number(values.pages);
/** No slots: created runs stay queued. */
const IDLE = { SWITCHYARD_CAPACITY: '0,16c60gb12h=1' };
const APP = `/v1/applications/${BENCH_APPLICATION}`;

/** Every list. Add a new list here, and its rows in generated-runs.ts. */
const LISTS: { name: string; path: string; isWhole?: boolean }[] = [
  { name: 'runs', path: `${APP}/runs` },
  { name: 'applications', path: '/v1/applications', isWhole: true },
  { name: 'versions', path: `${APP}/versions`, isWhole: true },
  { name: 'instances', path: `${APP}/instances`, isWhole: true },
  { name: 'secrets', path: `${APP}/secrets`, isWhole: true },
  { name: 'keys', path: '/v1/account/keys', isWhole: true },
];

/** Queued runs, newer than all others: a filtered list reads them beside the ended ones. */
const QUEUED_RUNS = Number(values.queued);

type Kind = 'sqlite' | 'postgres';

interface Side {
  server: StartedServer;
  filled: GeneratedRuns;
}
interface Sides {
  small: Side;
  large: Side;
}

/** Sends one request and returns its duration in milliseconds. Throws for an error status. */
async function time({ server }: Side, method: string, path: string, body?: unknown): Promise<number> {
  const begin = performance.now();
  const response = await server.request(method, path, { body });
  const durationMs = performance.now() - begin;
  if (response.status >= 300)
    throw new Error(`${method} ${path} returned ${response.status}: ${response.text}`);
  return durationMs;
}

/** Sends the same request to both servers alternately, and prints the medians and their ratio. */
async function compare(
  name: string,
  sides: Sides,
  once: (side: Side) => Promise<number>,
  requests = REQUESTS,
): Promise<void> {
  const durations = { small: [] as number[], large: [] as number[] };
  for (let count = 0; count < requests; count += 1) {
    for (const size of ['small', 'large'] as const) durations[size].push(await once(sides[size]));
  }
  const [small, large] = [median(durations.small), median(durations.large)];
  printLine(
    `  ${name.padEnd(52)} ${large.toFixed(2).padStart(8)} ms  baseline ${small.toFixed(2).padStart(7)} ms  ratio ${(large / small).toFixed(2)}`,
  );
}

/** Returns the token in the middle of the list, or of the last page within the limit. */
async function findMiddle({ server, filled }: Side, path: string, name: string): Promise<string> {
  const pages = Math.min(PAGES, Math.floor((filled.counts[name] ?? 0) / 50 / 2));
  let token = '';
  for (let page = 0; page < pages; page += 1) {
    const query = new URLSearchParams({
      pagereturn: 'true',
      limit: '50',
      ...(token ? { pagetoken: token } : {}),
    });
    const response = await server.request('GET', `${path}?${query}`);
    token = (response.body as { next_page_token?: string }).next_page_token ?? '';
    if (token === '') throw new Error(`${path} ends after ${page} pages: ${response.text.slice(0, 200)}`);
  }
  return token;
}

async function compareLists(sides: Sides): Promise<void> {
  for (const { name, path } of LISTS) {
    const query = `${path}?pagereturn=true&limit=50`;
    await compare(`${name}: first page`, sides, (side) => time(side, 'GET', query));
    const tokens = new Map<Side, string>();
    for (const side of [sides.small, sides.large]) tokens.set(side, await findMiddle(side, path, name));
    await compare(`${name}: a page in the middle, by token`, sides, (side) =>
      time(side, 'GET', `${query}&pagetoken=${tokens.get(side)}`),
    );
  }
}

const interval = (from: number, to: number): string =>
  `indicator=result.value:${SMALLEST_INDICATOR + from}..${SMALLEST_INDICATOR + to}`;

/** Filters, alone and together, and sorts. The intervals match 0.01 %, 0.4 %, 1 % and half of the runs. */
const FILTERS = [
  'status=succeeded',
  'status=failed',
  'status=queued',
  'status=failed,canceled',
  'instance_id=instance-3',
  'version_id=v7',
  'version_id=v1,v2,v3,v4,v5,v6',
  'user_email=planner-11',
  'run_type=standard',
  'name=tour%2017',
  'text=tour17',
  'text=tour',
  'text=nowhere',
  'option=solver:solver-1',
  interval(0, 9),
  interval(0, 399),
  interval(0, 999),
  interval(0, 49_999),
  'text=tour17&status=succeeded',
  'text=nowhere&status=succeeded&run_type=standard',
  `status=succeeded&instance_id=instance-3&${interval(0, 9)}`,
  'status=failed&option=solver:solver-1&version_id=v7',
  'status=succeeded&instance_id=instance-3&option=solver:none',
  'user_email=planner-11&option=solver:solver-2&version_id=v7',
  'sort=-indicator.result.value&user_email=planner-11',
  'sort=created_at',
  'sort=name',
  'sort=-user_email',
  'sort=-indicator.result.value',
  'sort=option.solver',
];

/** The first page of any filter is promised within this time at the server. */
const FIRST_PAGE_MS_MAX = 300;

/**
 * Measures the first page of each filter and sort: the median, the longest, and the plain list of the same server, which
 * precedes it each time. The plain list is that of the ended runs, as nearly all of the filtered ones are: the rows of queued
 * runs are shorter.
 */
async function compareFilters({ large }: Sides): Promise<void> {
  const { filled } = large;
  const ended = new URLSearchParams({ end: new Date(runCreatedAt(filled, filled.runs) + 1).toISOString() });
  const durations = new Map(
    FILTERS.map((filter) => [filter, { plain: [] as number[], filtered: [] as number[] }]),
  );
  for (let count = 0; count < REQUESTS; count += 1) {
    for (const [filter, { plain, filtered }] of durations) {
      plain.push(await time(large, 'GET', `${APP}/runs?${ended}`));
      filtered.push(await time(large, 'GET', `${APP}/runs?${filter}`));
    }
  }
  for (const [filter, { plain, filtered }] of durations)
    printFilter(`runs?${filter}`, filtered, `  plain list ${median(plain).toFixed(2).padStart(7)} ms`);
}

function printFilter(name: string, durations: readonly number[], more = ''): void {
  const longest = Math.max(...durations);
  const note = longest > FIRST_PAGE_MS_MAX ? `  over ${FIRST_PAGE_MS_MAX} ms` : '';
  printLine(
    `  ${name.padEnd(72)} ${median([...durations])
      .toFixed(2)
      .padStart(8)} ms  longest ${longest.toFixed(1).padStart(6)} ms${more}${note}`,
  );
}

/** Measures the counts of all runs and of each filter. */
async function countFiltered({ large }: Sides): Promise<void> {
  for (const filter of ['', 'production=true', ...FILTERS.filter((one) => !one.includes('sort='))]) {
    const durations: number[] = [];
    for (let count = 0; count < REQUESTS; count += 1)
      durations.push(await time(large, 'GET', `${APP}/run-counts?${filter}`));
    printFilter(`run-counts?${filter}`, durations);
  }
}

/** The small server has 250 runs to delete, in the half that is not read, for two rounds. */
const DELETES_MAX = 120;

/** Number up to which runs are deleted. */
const gone = new Map<Side, number>();

async function compareRuns(sides: Sides): Promise<void> {
  /**
   * Returns a time window in the middle that begins `runs` runs earlier and ends at a run of the measured application.
   */
  const window = ({ filled }: Side, runs: number): string => {
    const at = filled.runs / 2;
    const instant = (n: number): string => new Date(runCreatedAt(filled, n)).toISOString();
    return `start=${instant(at - runs)}&end=${instant(at)}`;
  };
  await compare('runs: a window with five hits', sides, (side) =>
    time(side, 'GET', `${APP}/runs?${window(side, 10)}`),
  );
  await compare('runs: a window long ago with no hit', sides, (side) =>
    time(side, 'GET', `${APP}/runs?start=2020-01-01T00:00:00Z&end=2020-01-02T00:00:00Z`),
  );
  await compare('runs: of an application that has one', sides, (side) =>
    time(side, 'GET', '/v1/applications/lonely/runs'),
  );
  let next = 0;
  const some = ({ filled }: Side): string => {
    next += 1;
    return formatRunId(1 + ((next * 7919) % (filled.runs / 4)) * 2);
  };
  await compare("a run's metadata", sides, (side) => time(side, 'GET', `${APP}/runs/${some(side)}/metadata`));
  await compare('a run with its output', sides, (side) => time(side, 'GET', `${APP}/runs/${some(side)}`));
  await compare('create a run', sides, (side) => time(side, 'POST', `${APP}/runs`, { input: { a: 1 } }));
  await compare(
    'delete a run',
    sides,
    (side) => {
      const n = (gone.get(side) ?? side.filled.runs / 2 + 1) | 1;
      gone.set(side, n + 2);
      return time(side, 'DELETE', `${APP}/runs/${formatRunId(n)}`);
    },
    Math.min(DELETES_MAX, REQUESTS),
  );
}

/** Lists without paging return every item, as existing clients expect. Prints their size and duration. */
async function printWhole({ large }: Sides): Promise<void> {
  for (const { name, path } of LISTS.filter((one) => one.isWhole)) {
    const begin = performance.now();
    const response = await large.server.request('GET', path);
    const durationMs = performance.now() - begin;
    const body = response.body as unknown[] | { items: unknown[] };
    const items = Array.isArray(body) ? body : body.items;
    printLine(
      `  ${`${name}: without paging, ${items.length} items`.padEnd(52)} ${durationMs.toFixed(0).padStart(8)} ms  ${(response.text.length / 1e6).toFixed(1)} MB`,
    );
  }
}

/** A data folder, and the address of its database unless that is SQLite. */
interface Place {
  data: string;
  address: string;
}

function configure(kind: Kind, address: string): Record<string, string> {
  return { ...IDLE, ...(kind === 'postgres' ? { SWITCHYARD_DATABASE: address } : {}) };
}

/** Creates the template of the rows through a server, and stops it. */
async function seed(kind: Kind, { data, address }: Place): Promise<{ run: string }> {
  const server = await startSwitchyard(configure(kind, address), data);
  try {
    await pushApp(
      server,
      await packFiles({ 'app.yaml': 'type: binary\nruntime: native\n', main: '#!/bin/sh\n' }),
      'binary',
    );
    return await createSeed(server);
  } finally {
    await server.stop();
  }
}

/** Fills the database, and then starts a server on it. */
async function prepare(
  kind: Kind,
  runs: number,
  { data, address }: Place,
  template: { run: string },
): Promise<Side & { data: string }> {
  const database =
    kind === 'sqlite'
      ? await openSqlite(join(data, 'switchyard.db'))
      : await openPostgres(address, createLog('warn'));
  const begin = performance.now();
  const filled = await generateRuns(database, template, runs);
  await database.close();
  printLine(`  ${runs} runs on ${kind}, filled in ${((performance.now() - begin) / 1000).toFixed(0)} s`);
  return { data, filled, server: await startSwitchyard(configure(kind, address), data) };
}

/** Creates one of each resource by HTTP, as the template of the rows. */
async function createSeed({ client }: StartedServer): Promise<{ run: string }> {
  const params = { application_id: BENCH_APPLICATION };
  await client.call('createVersion', { params, body: { id: 'seed', name: 'Seed' } });
  await client.call('createInstance', { params, body: { id: 'seed', name: 'Seed', version_id: 'seed' } });
  const secrets = [{ type: 'env' as const, location: 'KEY', value: 'treasure' }];
  await client.call('createSecretsCollection', { params, body: { id: 'seed', name: 'Seed', secrets } });
  const run = await client.call('createRun', { params, body: { input: { stops: 'x'.repeat(2000) } } });
  return { run: run.body.run_id };
}

async function bench(kind: Kind): Promise<void> {
  const postgres = kind === 'postgres' ? await startPostgres() : undefined;
  const createPlace = async (name: string, original?: Place): Promise<Place> => {
    const data = mkdtempSync(join(tmpdir(), 'switchyard-bench-'));
    if (original) cpSync(original.data, data, { recursive: true });
    const address = postgres ? await createDatabase(postgres.url, name, original && 'seed') : '';
    return { data, address };
  };
  const original = await createPlace('seed');
  const template = await seed(kind, original);
  const places = { small: await createPlace('small', original), large: await createPlace('large', original) };
  const largeUrl = places.large.address;
  rmSync(original.data, { recursive: true, force: true });
  const small = await prepare(kind, SIZES.small, places.small, template);
  const large = await prepare(kind, SIZES.large, places.large, template);
  const sides = { small, large };
  try {
    for (let count = 0; count < QUEUED_RUNS; count += 1)
      for (const side of [small, large]) await time(side, 'POST', `${APP}/runs`, { input: { a: 1 } });
    printLine(
      `${kind}, ${SIZES.large} runs against ${SIZES.small}${postgres ? ', with stale statistics' : ''}`,
    );
    await compareLists(sides);
    await compareFilters(sides);
    await countFiltered(sides);
    await compareRuns(sides);
    if (!postgres) await printWhole(sides);
    if (!postgres) return;
    const database = await openPostgres(largeUrl, createLog('warn'));
    await sql`vacuum analyze`.execute(database.read);
    await database.close();
    printLine('postgres, after VACUUM ANALYZE, which autovacuum does by itself');
    await compareLists(sides);
    await compareFilters(sides);
    await countFiltered(sides);
    await compareRuns(sides);
    await printWhole(sides);
  } finally {
    for (const { server, data } of [small, large]) {
      await server.stop();
      rmSync(data, { recursive: true, force: true });
    }
    await postgres?.stop();
  }
}

const kinds = (['sqlite', 'postgres'] as const).filter((one) => !values.database || one === values.database);
for (const kind of kinds) await bench(kind);
