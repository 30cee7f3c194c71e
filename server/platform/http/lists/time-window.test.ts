/** The default time window of lists: the year before its end, or before now. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRun } from '../../../testing/fixtures/apps.ts';
import { COMPARISON, createOnlineTestApp } from '../../../testing/fixtures/online-tests.ts';
import { expectStatus } from '../../../testing/fixtures/resources.ts';
import { createManualClock } from '../../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../../testing/servers/test-server.ts';

const CREATED_AT = Date.UTC(2026, 0, 5, 8);
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const APP = '/v1/applications/app';
const clock = createManualClock(CREATED_AT);

let server: TestServer;
let run: string;
beforeAll(async () => {
  // Without a slot for runs, the runs stay queued.
  server = await startTestServer({ clock, env: { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' } });
  await createOnlineTestApp(server);
  run = await createRun(server, 'app', { instance: 'baseline', input: { cost: 1 } });
  const { baseline_instance_id: control, candidate_instance_id: candidate } = COMPARISON;
  for (const [path, body] of [
    ['inputsets', { run_ids: [run] }],
    ['batch', { input_set_id: 'old', instance_ids: [control, candidate] }],
    [
      'acceptance',
      {
        experiment_id: 'old',
        control: { instance_id: control },
        candidate: { instance_id: candidate },
        metrics: [
          {
            field: 'result.value',
            metric_type: 'direct-comparison',
            params: { operator: 'le' },
            statistic: 'mean',
          },
        ],
      },
    ],
    ['shadow', { comparison: COMPARISON, termination_events: { maximum_runs: 1 } }],
    ['switchback', { comparison: COMPARISON, generate_random_plan: { unit_duration_minutes: 1, units: 1 } }],
  ] as const)
    expectStatus(
      await server.request('POST', `${APP}/experiments/${path}`, {
        body: { id: 'old', name: 'An old resource', ...body },
      }),
      201,
    );
  const rules = [{ id: 'value', statistics_path: 'result.value', objective: 'minimize', index: 0 }];
  const run_groups = [{ id: 'one', instance_id: 'baseline' }];
  const body = { id: 'old', name: 'An old resource', run_groups, rules };
  expectStatus(await server.request('POST', `${APP}/ensembles`, { body }), 201);
});
afterAll(() => server.close());

test('D5: lists have the resources of the year before their end, unless the query gives a start', async () => {
  const at = (ms: number) => new Date(ms).toISOString();
  const hasResource = async (list: string, query: string): Promise<boolean> => {
    const response = await server.request('GET', `${APP}/${list}?pagereturn=true${query}`);
    expectStatus(response, 200);
    const { items } = response.body as { items: { id: string }[] };
    return items.some(({ id }) => id === 'old' || id === run);
  };
  const withinYear = ['runs', 'experiments/batch', 'experiments/shadow', 'experiments/switchback'];
  // Old resources of these kinds stay in use, so their lists have no default window.
  const unlimited = ['ensembles', 'experiments/acceptance', 'experiments/inputsets'];
  const all = [...withinYear, ...unlimited];
  const findListsWithResource = async (query: string, lists = all) => {
    const found = await Promise.all(lists.map((list) => hasResource(list, query)));
    return lists.filter((_, index) => found[index]);
  };
  // A window without a start is a year long, also with an end in the future.
  expect(await findListsWithResource(`&end=${at(CREATED_AT + YEAR_MS)}`, withinYear)).toEqual(withinYear);
  expect(await findListsWithResource(`&end=${at(CREATED_AT + YEAR_MS + 1)}`, withinYear)).toEqual([]);
  clock.advance(YEAR_MS);
  expect(await findListsWithResource('')).toEqual(all);
  clock.advance(1);
  expect(await findListsWithResource('')).toEqual(unlimited);
  expect(await findListsWithResource(`&end=${at(CREATED_AT + YEAR_MS)}`, withinYear)).toEqual(withinYear);
  expect(await findListsWithResource(`&end=${at(CREATED_AT + YEAR_MS + 1)}`, withinYear)).toEqual([]);
  expect(await findListsWithResource(`&start=${at(CREATED_AT)}`, withinYear)).toEqual(withinYear);
});
