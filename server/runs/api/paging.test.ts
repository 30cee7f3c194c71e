/** Pages of the list of runs while other clients create and delete runs: no run is skipped or repeated. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun } from '../../testing/fixtures/apps.ts';
import { createVersion, expectError, expectStatus, listAllPages } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

/** A stopped clock, so that all runs have one timestamp until a test advances it. */
const clock = createManualClock(Date.parse('2026-11-20T08:00:00.000Z'));
let server: TestServer;
beforeAll(async () => {
  // No slot serves the runs of this test, so they stay queued.
  server = await startTestServer({ clock, env: { SWITCHYARD_CAPACITY: '0,16c60gb12h=1' } });
});
afterAll(() => server.close());

const getListPath = (application: string): string => `/v1/applications/${application}/runs`;
const createRuns = (application: string, count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => createRun(server, application, { input: {} })));
const deleteRun = async (application: string, run: string): Promise<void> =>
  expectStatus(await server.request('DELETE', `${getListPath(application)}/${run}`), 204);
const formatNow = (): string => new Date(clock.now()).toISOString();

describe('runs of one instant', () => {
  test('are on one page each while other runs of the instant are created and deleted between the pages', async () => {
    const application = await createVersion(server);
    const before = await createRuns(application, 40);
    const deleted = new Set(before.filter((_, index) => index % 4 === 0));
    const toDelete = [...deleted];
    const seen = (
      await listAllPages(server, getListPath(application), 3, async () => {
        await createRuns(application, 2);
        const next = toDelete.pop();
        if (next) await deleteRun(application, next);
      })
    ).flat();
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(before.filter((id) => !deleted.has(id))));
  });

  test('are on one page each while another client creates and deletes runs', async () => {
    const application = await createVersion(server);
    const retained = await createRuns(application, 60);
    let isDone = false;
    const others = (async () => {
      while (!isDone) for (const id of await createRuns(application, 3)) await deleteRun(application, id);
    })();
    const walks = [1, 4, 7, 50].map((limit) => listAllPages(server, getListPath(application), limit));
    const seen = (await Promise.all(walks)).map((pages) => pages.flat());
    isDone = true;
    await others;
    for (const ids of seen) {
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.filter((id) => retained.includes(id)).sort()).toEqual([...retained].sort());
    }
    expect((await listAllPages(server, getListPath(application), 7)).flat().sort()).toEqual(
      [...retained].sort(),
    );
  });
});

describe('a time window', () => {
  test('includes its start, excludes its end, and has pages like the whole list', async () => {
    const application = await createVersion(server);
    const instants: { at: string; ids: string[] }[] = [];
    for (let step = 0; step < 4; step += 1) {
      clock.advance(1);
      instants.push({ at: formatNow(), ids: (await createRuns(application, 5)).sort().reverse() });
    }
    const [, second, third, fourth] = instants;
    const window = `start=${second?.at}&end=${fourth?.at}`;
    const ids: string[] = [];
    let token = '';
    for (let page = 0; page < 4; page += 1) {
      const query = `${window}&limit=3${token && `&pagetoken=${token}`}`;
      const response = await server.request('GET', `${getListPath(application)}?${query}`);
      expectStatus(response, 200);
      const body = response.body as { runs: { id: string }[]; next_page_token?: string };
      ids.push(...body.runs.map((run) => run.id));
      token = body.next_page_token ?? '';
      // A run after the end of the window is on no page.
      await createRuns(application, 1);
    }
    expect(token).toBe('');
    expect(ids).toEqual([...(third?.ids ?? []), ...(second?.ids ?? [])]);
  });

  test('has page tokens that are invalid for any other window', async () => {
    const application = await createVersion(server);
    await createRuns(application, 3);
    const first = await server.request('GET', `${getListPath(application)}?limit=1`);
    const { next_page_token: token } = first.body as { next_page_token: string };
    const path = `${getListPath(application)}?limit=1&pagetoken=${token}`;
    expectStatus(await server.request('GET', path), 200);
    expectError(await server.request('GET', `${path}&start=2026-01-01T00:00:00Z`), 400, 'pagetoken');
    expectError(await server.request('GET', `${path}&end=${formatNow()}`), 400, 'pagetoken');
  });
});
