/** The time that lists are about when nothing is said of it: a year before its end, or before now. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRun } from '../../testing/fixtures/apps.ts';
import { COMPARISON, createOnlineTestApp } from '../../testing/fixtures/online-tests.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const MADE = Date.UTC(2026, 0, 5, 8);
const YEAR = 365 * 24 * 60 * 60 * 1000;
const APP = '/v1/applications/app';
const clock = createManualClock(MADE);

let server: TestServer;
let run: string;
beforeAll(async () => {
  // No slot for runs: what is made stays queued.
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
        body: { id: 'old', name: 'Of long ago', ...body },
      }),
      201,
    );
  const rules = [{ id: 'value', statistics_path: 'result.value', objective: 'minimize', index: 0 }];
  const run_groups = [{ id: 'one', instance_id: 'baseline' }];
  const body = { id: 'old', name: 'Of long ago', run_groups, rules };
  expectStatus(await server.request('POST', `${APP}/ensembles`, { body }), 201);
});
afterAll(() => server.close());

test('D5: lists have what was made within a year of their end, unless they are asked for more', async () => {
  const at = (ms: number) => new Date(ms).toISOString();
  const has = async (list: string, query: string): Promise<boolean> => {
    const answer = await server.request('GET', `${APP}/${list}?pagereturn=true${query}`);
    expectStatus(answer, 200);
    const { items } = answer.body as { items: { id: string }[] };
    return items.some(({ id }) => id === 'old' || id === run);
  };
  const aYear = ['runs', 'experiments/batch', 'experiments/shadow', 'experiments/switchback'];
  // What is used again however old it is, and what no time can be said for.
  const always = ['ensembles', 'experiments/acceptance', 'experiments/inputsets'];
  const all = [...aYear, ...always];
  const having = async (query: string, lists = all) => {
    const found = await Promise.all(lists.map((list) => has(list, query)));
    return lists.filter((_, index) => found[index]);
  };
  // A window without a start is a year long, also before an end in the future.
  expect(await having(`&end=${at(MADE + YEAR)}`, aYear)).toEqual(aYear);
  expect(await having(`&end=${at(MADE + YEAR + 1)}`, aYear)).toEqual([]);
  clock.advance(YEAR);
  expect(await having('')).toEqual(all);
  clock.advance(1);
  expect(await having('')).toEqual(always);
  expect(await having(`&end=${at(MADE + YEAR)}`, aYear)).toEqual(aYear);
  expect(await having(`&end=${at(MADE + YEAR + 1)}`, aYear)).toEqual([]);
  expect(await having(`&start=${at(MADE)}`, aYear)).toEqual(aYear);
});
