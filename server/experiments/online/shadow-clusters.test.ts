/** Shadow tests whose originals come in clusters by a field of their inputs. The test chooses the outcomes of the runs. */
import { join } from 'node:path';
import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import type { ExperimentId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDiskBlobs } from '../../platform/blobs/disk.ts';
import { createOnlineTestApp, shadowCalls } from '../../testing/fixtures/online-tests.ts';
import { expectError, expectStatus, uniqueId, uploadContent } from '../../testing/fixtures/resources.ts';
import { endRunsWith } from '../../testing/fixtures/run-outcomes.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

/** No slot for runs of the first class, so they stay queued until the test ends them. */
const NO_SLOTS = { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' };
const MINIMIZE = { objectives: { 'result.value': 'minimize' } };
/** A larger input is a blob, and a thread parses it. */
const ROW_BYTES_MAX = 64 * 1024;
const READABLE_BYTES_MAX = 20 * 1024 ** 2;

let server: TestServer;
let clock: ManualClock;
beforeAll(async () => {
  clock = createManualClock(Date.UTC(2026, 0, 5, 8));
  server = await startTestServer({ clock, env: NO_SLOTS });
});
afterAll(() => server.close());

/** The input of an original, and the change of its cost by the candidate in percent. */
interface Original {
  input: unknown;
  change: number;
  /** Cost of the original; 100 by default. */
  cost?: number;
  configuration?: object;
}

/** Starts a test in the application that ends with the number of originals. Returns its calls and its id. */
async function startTest(application: string, originals: number, settings: object) {
  const calls = shadowCalls(() => server, application);
  const id = uniqueId('test');
  await calls.startTest({ id, ...MINIMIZE, termination_events: { maximum_runs: originals }, ...settings });
  return { ...calls, id };
}
type Calls = Awaited<ReturnType<typeof startTest>>;

/** Creates the originals. Returns the outcome of each and of its copy, once the copies exist. */
async function createOriginals(
  application: string,
  originals: readonly Original[],
): Promise<Map<string, { 'result.value': number }>> {
  const created = new Map<RunId, Original>();
  for (const original of originals) {
    const { input, configuration } = original;
    const text = JSON.stringify(input);
    const isLarge = text.length > ROW_BYTES_MAX;
    const body = isLarge
      ? { upload_id: await uploadContent(server, application, text) }
      : { input, configuration };
    const path = `/v1/applications/${application}/runs?instance_id=baseline`;
    const response = await server.request('POST', path, { body });
    expectStatus(response, 202);
    created.set((response.body as { run_id: RunId }).run_id, original);
    clock.advance(1000);
  }
  const copies = await server.waitUntil('runs-queued', async () => {
    const found = await server.runningServer.database.read
      .selectFrom('runs')
      .select(['id', 'parent_run_id'])
      .where('parent_run_id', 'in', [...created.keys()])
      .execute();
    return found.length === originals.length && found;
  });
  const measure = (change: number, cost = 100) => ({ 'result.value': cost * Math.exp(change / 100) });
  return new Map([
    ...[...created].map(([run, { cost }]): [string, ReturnType<typeof measure>] => [run, measure(0, cost)]),
    ...copies.map((copy): [string, ReturnType<typeof measure>] => {
      const original = copy.parent_run_id ? created.get(copy.parent_run_id) : undefined;
      return [copy.id, measure(original?.change ?? 0, original?.cost)];
    }),
  ]);
}

async function readResults({ get, id }: Calls): Promise<{ comparison: Comparison; warnings: string[] }> {
  const { compared, warnings } = await get(id);
  const [comparison] = (compared as { indicators: Comparison[] }[])[0]?.indicators ?? [];
  if (!comparison) throw new Error('The test has no comparison.');
  return { comparison, warnings: warnings as string[] };
}

/** Runs a test of the originals to its end, and returns its results. */
async function runTest(application: string, originals: readonly Original[], settings: object) {
  const calls = await startTest(application, originals.length, settings);
  await endRunsWith(server, await createOriginals(application, originals), clock.now());
  await calls.waitForStatus(calls.id, 'completed');
  return readResults(calls);
}

/** Two-sided p-value of Student's t with 4 degrees of freedom (closed form; Hill, Communications of the ACM 1970). */
function computeFourDegreesTail(t: number): number {
  const ratio = t / Math.sqrt(1 + (t * t) / 4);
  return 2 * (0.5 - (3 / 8) * ratio * (1 - (ratio * ratio) / 12));
}

describe('originals of five depots', () => {
  // The candidate wins the first twelve places by 9 to 20 %, and loses the other eight by 1 to 8 %: so are the ranks. The
  // order in time mixes the places, so that neighbours do not resemble each other.
  const originals = Array.from({ length: 20 }, (_, index): Original => {
    const place = (7 * index) % 20;
    const input = { place, depot: { name: `depot ${Math.floor(place / 4)}` } };
    return { input, change: place < 12 ? -(9 + place) : place - 11 };
  });
  const application = uniqueId('shadow');
  beforeAll(() => createOnlineTestApp(server, application, {}));

  test('have a verdict while they count as independent', async () => {
    const { comparison, warnings } = await runTest(application, originals, { cluster_by: ['content'] });
    expect(comparison).toMatchObject({ verdict: 'better', inputs: { wins: 12, losses: 8 } });
    expect(comparison.dependence?.clusterings).toEqual([]);
    expect(warnings).toEqual([]);
  });

  test('have none when the test is by depot', async () => {
    const { comparison, warnings } = await runTest(application, originals, { cluster_by: ['/depot/name'] });
    expect(comparison).toMatchObject({ verdict: 'undecided', inputs: { wins: 12, losses: 8 } });
    expect(comparison.dependence?.clusterings).toMatchObject([
      { by: '/depot/name', count: 5, effective: 5, use: 'tested' },
    ]);
    // Signed ranks by depot: -42, -58, -74, 10 and 26, with the mean -27.6 and the variance 1892.8.
    const t = 27.6 / Math.sqrt(1892.8 / 5);
    expect(comparison.wilcoxon.p_value).toBeCloseTo(computeFourDegreesTail(t), 7);
    expect(warnings).toEqual([]);
  });
});

describe('originals of four fleets that are planned again in turn', () => {
  const originals = Array.from(
    { length: 40 },
    (_, place): Original => ({
      input: { place },
      cost: 100 * 2 ** (place % 4) * (1 + 0.001 * place),
      change: ([5, 7, -1, 6][place % 4] ?? 0) + ((7 * place) % 40) / 100,
    }),
  );
  const application = uniqueId('shadow');
  beforeAll(() => createOnlineTestApp(server, application, {}));

  test('T2: have no verdict, because their values show the fleets', async () => {
    const { comparison } = await runTest(application, originals, {});
    expect(comparison).toMatchObject({
      verdict: 'undecided',
      related_inputs: { clusters: null, action: 'withheld' },
    });
    expect(comparison.reasons[0]).toMatch(/^The originals look like versions of a few\. /);
  });

  test('T2: have one where their contents are declared independent', async () => {
    const { comparison } = await runTest(application, originals, { cluster_by: ['content'] });
    expect(comparison).toMatchObject({ verdict: 'worse', related_inputs: null });
  });
});

describe('originals without the field count as one cluster', () => {
  const application = uniqueId('shadow');
  beforeAll(() => createOnlineTestApp(server, application, {}));
  const departures = ['2026-01-05T23:30:00-02:00', '2026-01-06'];
  const buildInput = (departure: string | undefined, bytes: number) => ({
    ...(departure ? { departure, urgent: true } : {}),
    padding: 'x'.repeat(bytes),
  });

  test('and those whose input is too large to read', async () => {
    const inputs = [
      buildInput(departures[0], 0),
      buildInput(departures[1], ROW_BYTES_MAX),
      buildInput(departures[1], READABLE_BYTES_MAX),
      buildInput(undefined, 0),
    ];
    const { warnings } = await runTest(
      application,
      inputs.map((input) => ({ input, change: 1 })),
      { cluster_by: ['/urgent', 'day:/departure'] },
    );
    const few =
      'the originals form 2 clusters, which count as 2 of equal size. Below 5 there is a verdict only if the clusters do not differ; use originals of more clusters.';
    const unknown = '2 of 4 originals have no such value; they count as one cluster.';
    expect(warnings).toEqual(
      ['/urgent', 'day:/departure'].flatMap((name) => [
        `cluster_by ${name}: ${unknown}`,
        `cluster_by ${name}: ${few}`,
      ]),
    );
  });

  test('and those whose input is text', async () => {
    const configuration = { format: { input: { type: 'text' }, output: { type: 'json' } } };
    const originals = [1, 2].map((change) => ({ input: `{"depot": ${change}}`, change, configuration }));
    const { warnings } = await runTest(application, originals, { cluster_by: ['/depot'] });
    expect(warnings).toEqual([
      'cluster_by /depot: 2 of 2 originals have no such value; they count as one cluster.',
      'cluster_by /depot: all originals belong to one cluster, so the verdict holds for this cluster alone.',
    ]);
  });
});

test('an original counts once its fields are read, also after a crash and with a damaged input', async () => {
  const application = uniqueId('shadow');
  await createOnlineTestApp(server, application, {});
  const calls = await startTest(application, 2, { cluster_by: ['/depot'] });
  const large = { depot: 2, padding: 'x'.repeat(ROW_BYTES_MAX) };
  const outcomes = await createOriginals(application, [
    { input: { depot: 1 }, change: 1 },
    { input: large, change: 2 },
  ]);
  const { database } = server.runningServer;
  const { uid, application_uid } = await database.read
    .selectFrom('experiments')
    .select(['uid', 'application_uid'])
    .where('id', '=', calls.id as ExperimentId)
    .executeTakeFirstOrThrow();
  const readProperties = async (): Promise<object[]> => {
    const row = await database.read
      .selectFrom('experiment_input_properties')
      .select('properties')
      .where('experiment_uid', '=', uid)
      .executeTakeFirst();
    return row ? JSON.parse(row.properties) : [];
  };
  const { blob_key } = await database.read
    .selectFrom('contents')
    .innerJoin('runs', 'runs.input_content_id', 'contents.id')
    .select('blob_key')
    .where('runs.application_uid', '=', application_uid)
    .where('blob_key', 'is not', null)
    .executeTakeFirstOrThrow();
  const blobs = await openDiskBlobs(join(server.dataFolder, 'blobs'));
  await blobs.remove(blob_key ?? '');
  // The job has just read the fields, and reads them again in five seconds: the test has so much time until its restart.
  await expect.poll(async () => (await readProperties()).length).toBe(2);
  // A server that crashes before it reads the fields leaves neither.
  await database.transact((tx) =>
    tx.deleteFrom('experiment_input_properties').where('experiment_uid', '=', uid).execute(),
  );
  await endRunsWith(server, outcomes, clock.now());
  expect(await calls.status(calls.id)).toBe('started');
  expect((await readResults(calls)).comparison.inputs).toMatchObject({ total: 2, usable: 0 });

  await server.restart();
  await calls.waitForStatus(calls.id, 'completed');
  const { comparison, warnings } = await readResults(calls);
  expect(comparison.inputs).toMatchObject({ total: 2, usable: 2 });
  expect(warnings[0]).toBe(
    'cluster_by /depot: 1 of 2 originals have no such value; they count as one cluster.',
  );
});

test('the response names the clusterings, and an unknown one is refused', async () => {
  const application = uniqueId('shadow');
  await createOnlineTestApp(server, application, {});
  const calls = shadowCalls(() => server, application);
  const cluster_by = ['caller', 'day:/departure', '/a~1b', 'content'];
  const created = await calls.create(calls.draft({ cluster_by }));
  expectStatus(created, 201);
  expect(created.body).toMatchObject({ cluster_by });
  for (const [names, message] of [
    [['depot'], 'cluster_by.0 is "depot"; it must be content, caller, day, a JSON Pointer'],
    [['caller', '/a~2'], 'cluster_by.1 is "/a~2"'],
    [['day:'], 'cluster_by.0 is "day:"'],
    [['/a', '/b', '/c', '/d', '/e'], 'cluster_by'],
  ] as const)
    expectError(await calls.create(calls.draft({ id: 'other', cluster_by: names })), 400, message);
});
