/** The list of runs while others make and delete some: whatever the timestamps, no run is skipped or repeated. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun } from '../../testing/fixtures/apps.ts';
import { createVersion, expectError, expectStatus, listAllPages } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

/** The clock stands still, so that what is made without moving it has one timestamp. */
const clock = createManualClock(Date.parse('2026-11-20T08:00:00.000Z'));
let server: TestServer;
beforeAll(async () => {
  // Nothing is executed: the runs stay as they are made.
  server = await startTestServer({ clock, env: { SWITCHYARD_CAPACITY: '0,16c60gb12h=1' } });
});
afterAll(() => server.close());

const listOf = (application: string): string => `/v1/applications/${application}/runs`;
const make = (application: string, count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => createRun(server, application, { input: {} })));
const remove = async (application: string, run: string): Promise<void> =>
  expectStatus(await server.request('DELETE', `${listOf(application)}/${run}`), 204);
const stamp = (): string => new Date(clock.now()).toISOString();

describe('runs of one instant', () => {
  test('are paged once each, while between the pages runs of the same instant come and go', async () => {
    const application = await createVersion(server);
    const before = await make(application, 40);
    const doomed = new Set(before.filter((_, n) => n % 4 === 0));
    const waiting = [...doomed];
    const seen = (
      await listAllPages(server, listOf(application), 3, async () => {
        await make(application, 2);
        const next = waiting.pop();
        if (next) await remove(application, next);
      })
    ).flat();
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(before.filter((id) => !doomed.has(id))));
  });

  test('are paged once each while another client makes and deletes all the time', async () => {
    const application = await createVersion(server);
    const kept = await make(application, 60);
    let over = false;
    const others = (async () => {
      while (!over) for (const id of await make(application, 3)) await remove(application, id);
    })();
    const walks = [1, 4, 7, 50].map((limit) => listAllPages(server, listOf(application), limit));
    const seen = (await Promise.all(walks)).map((pages) => pages.flat());
    over = true;
    await others;
    for (const ids of seen) {
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.filter((id) => kept.includes(id)).sort()).toEqual([...kept].sort());
    }
    expect((await listAllPages(server, listOf(application), 7)).flat().sort()).toEqual([...kept].sort());
  });
});

describe('a window', () => {
  test('has its start and not its end, and is paged like the whole', async () => {
    const application = await createVersion(server);
    const instants: { at: string; ids: string[] }[] = [];
    for (let step = 0; step < 4; step += 1) {
      clock.advance(1);
      instants.push({ at: stamp(), ids: (await make(application, 5)).sort().reverse() });
    }
    const [, second, third, fourth] = instants;
    const window = `start=${second?.at}&end=${fourth?.at}`;
    const ids: string[] = [];
    let token = '';
    for (let page = 0; page < 4; page += 1) {
      const query = `${window}&limit=3${token && `&pagetoken=${token}`}`;
      const answer = await server.request('GET', `${listOf(application)}?${query}`);
      expectStatus(answer, 200);
      const body = answer.body as { runs: { id: string }[]; next_page_token?: string };
      ids.push(...body.runs.map((run) => run.id));
      token = body.next_page_token ?? '';
      // What is made after the window's end is none of it.
      await make(application, 1);
    }
    expect(token).toBe('');
    expect(ids).toEqual([...(third?.ids ?? []), ...(second?.ids ?? [])]);
  });

  test('gives tokens for itself alone', async () => {
    const application = await createVersion(server);
    await make(application, 3);
    const first = await server.request('GET', `${listOf(application)}?limit=1`);
    const { next_page_token: token } = first.body as { next_page_token: string };
    const path = `${listOf(application)}?limit=1&pagetoken=${token}`;
    expectStatus(await server.request('GET', path), 200);
    expectError(await server.request('GET', `${path}&start=2026-01-01T00:00:00Z`), 400, 'pagetoken');
    expectError(await server.request('GET', `${path}&end=${stamp()}`), 400, 'pagetoken');
  });
});
