/** Invalid drafts of shadow and switchback tests. The server rejects them with a 400 and stores nothing. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  COMPARISON,
  createOnlineTestApp,
  onlineTestCalls,
  shadowCalls,
} from '../../testing/fixtures/online-tests.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const START = Date.UTC(2026, 0, 5, 8);
const at = (ms: number) => new Date(START + ms).toISOString();

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock: createManualClock(START) });
  await createOnlineTestApp(server);
});
afterAll(() => server.close());

describe('the draft of a shadow test', () => {
  const calls = shadowCalls(() => server);
  beforeAll(async () => expectStatus(await calls.create(calls.draft({ id: 'taken' })), 201));

  test.each([
    ['no instances', { comparison: null }, 'comparison is missing'],
    ['both forms', { comparisons: { baseline: ['candidate'] } }, 'comparison and comparisons'],
    ['no baseline', { comparison: null, comparisons: {} }, '0 baselines'],
    [
      'two baselines',
      { comparison: null, comparisons: { baseline: ['latest'], candidate: ['latest'] } },
      '2 baselines',
    ],
    [
      'a candidate twice',
      { comparison: null, comparisons: { baseline: ['latest', 'devint'] } },
      '"devint" twice',
    ],
    [
      'one instance',
      { comparison: { ...COMPARISON, candidate_instance_id: 'baseline' } },
      'another instance',
    ],
    ['an unknown instance', { comparison: { ...COMPARISON, candidate_instance_id: 'nowhere' } }, '"nowhere"'],
    ['no limit on runs', { termination_events: {} }, 'maximum_runs'],
    ['a limit of 301 runs', { termination_events: { maximum_runs: 301 } }, '301'],
    [
      'a time in the past',
      { termination_events: { maximum_runs: 1, time: at(0) } },
      'termination_events.time',
    ],
    [
      'an end before the start',
      { start_events: { time: at(9) }, termination_events: { maximum_runs: 1, time: at(9) } },
      'start_events.time',
    ],
    ['a short description', { description: 'Too short.' }, 'description'],
    [
      'a tie tolerance above the default margin',
      { objectives: { 'result.value': { tie_tolerance: 0.02 } } },
      'tie_tolerance is 0.02, above the margin of 0.01, the default',
    ],
    [
      'a tie tolerance above its margin',
      { objectives: { 'result.value': { tie_tolerance: 0.2, margin: { type: 'relative', value: 0.1 } } } },
      'tie_tolerance is 0.2, above the margin of 0.1;',
    ],
    ['a largest loss of 0', { objectives: { 'result.value': { largest_loss: 0 } } }, 'largest_loss'],
    [
      'a largest loss above 1,000,000 times the control',
      { objectives: { 'result.value': { largest_loss: 1e308 } } },
      'objectives.result.value.largest_loss is 1e+308; it must be',
    ],
    ['an id in use', { id: 'taken' }, 'another shadow test'],
  ])('with %s is rejected', async (_, fields, message) => {
    expectError(await calls.create(calls.draft(fields)), 400, message);
    expect((await server.request('GET', calls.root)).body).toHaveLength(1);
  });
});

describe('the draft of a switchback test', () => {
  const calls = onlineTestCalls(() => server, 'switchback');
  const draft = {
    id: 'test',
    name: 'Earlier dispatch',
    comparison: COMPARISON,
    generate_random_plan: { unit_duration_minutes: 30, units: 4 },
  };

  test.each([
    ['no plan', { generate_random_plan: null }, 'generate_random_plan'],
    ['no unit', { generate_random_plan: { unit_duration_minutes: 1, units: 0 } }, 'units'],
    ['1001 units', { generate_random_plan: { unit_duration_minutes: 1, units: 1001 } }, '1001'],
    [
      'no duration',
      { generate_random_plan: { unit_duration_minutes: 0, units: 1 } },
      'unit_duration_minutes',
    ],
    [
      'half a minute',
      { generate_random_plan: { unit_duration_minutes: 0.5, units: 1 } },
      'unit_duration_minutes',
    ],
    [
      'a duration that is too long',
      { generate_random_plan: { unit_duration_minutes: 10_081, units: 1 } },
      '10081',
    ],
    [
      'a start in the past',
      { generate_random_plan: { unit_duration_minutes: 1, units: 1, start: at(-1) } },
      'start',
    ],
    [
      'one instance',
      { comparison: { ...COMPARISON, candidate_instance_id: 'baseline' } },
      'another instance',
    ],
    [
      'two ids of latest',
      { comparison: { baseline_instance_id: 'latest', candidate_instance_id: 'devint' } },
      'another',
    ],
    ['an unknown instance', { comparison: { ...COMPARISON, baseline_instance_id: 'nowhere' } }, '"nowhere"'],
    [
      'a value for failed runs',
      { objectives: { 'result.value': { failure_value: 600 } } },
      'failure_value is 600, but a switchback test compares failures by themselves',
    ],
    [
      'a largest loss of one input',
      { objectives: { 'result.value': { largest_loss: 0.5 } } },
      'largest_loss is 0.5, but a switchback test does not compare inputs one by one',
    ],
    ['an unknown objective', { objectives: { 'result.value': 'better' } }, 'objectives'],
  ])('with %s is rejected', async (_, fields, message) => {
    expectError(await calls.create({ ...draft, ...fields }), 400, message);
    expect((await server.request('GET', calls.root)).body).toEqual({ items: [] });
  });
});
