/** Verdicts of switchback tests over HTTP, on fixed plans and outcomes, so that every p-value can be listed. */

import type { Question } from '@switchyard/contract/experiments/comparisons/questions.ts';
import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRun } from '../../testing/fixtures/apps.ts';
import { COMPARISON, createOnlineTestApp, onlineTestCalls } from '../../testing/fixtures/online-tests.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { endRunsWith, type RunOutcome } from '../../testing/fixtures/run-outcomes.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const UNIT_MS = 60 * 60_000;
/** No slot for runs of the first class, so they stay queued until the test ends them. */
const NO_SLOTS = { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' };

let server: TestServer;
let clock: ManualClock;
beforeAll(async () => {
  clock = createManualClock(Date.UTC(2026, 0, 5, 8));
  server = await startTestServer({ clock, env: NO_SLOTS });
  await createOnlineTestApp(server);
});
afterAll(() => server.close());
const calls = onlineTestCalls(() => server, 'switchback');

/** Replaces the plan that the server drew, one letter for each unit: b for the baseline, c for the candidate. */
async function fixPlan(id: string, letters: string): Promise<void> {
  const { database } = server.runningServer;
  const row = await database.read
    .selectFrom('experiments')
    .select(['uid', 'definition'])
    .where('id', '=', id as never)
    .executeTakeFirstOrThrow();
  const units = [...letters].map((letter) => (letter === 'c' ? 'candidate' : 'baseline'));
  const definition = JSON.stringify({ ...JSON.parse(row.definition), units });
  await database.transact((tx) =>
    tx.updateTable('experiments').set({ definition }).where('uid', '=', row.uid).execute(),
  );
}

interface Unit {
  index: number;
  isCandidate: boolean;
  /** The candidate served the unit before. */
  followsCandidate: boolean;
}

interface Scenario {
  letters: string;
  plan?: object;
  overrides?: object;
  outcome(unit: Unit): RunOutcome;
}

/** Starts a test with one run in each unit, and ends the runs of the first `ended` units with their outcomes. */
async function runTest(
  id: string,
  { letters, plan = {}, overrides = {}, outcome }: Scenario,
  ended = letters.length,
) {
  const created = await calls.create({
    id,
    name: `Test ${id}`,
    comparison: COMPARISON,
    generate_random_plan: { unit_duration_minutes: 60, units: letters.length, ...plan },
    ...overrides,
  });
  expectStatus(created, 201);
  await fixPlan(id, letters);
  expectStatus(await calls.start(id), 204);
  const outcomes = new Map<string, RunOutcome>();
  for (let index = 0; index < ended; index += 1) {
    const run = await createRun(server, 'app', { instance: 'baseline' });
    outcomes.set(
      run,
      outcome({ index, isCandidate: letters[index] === 'c', followsCandidate: letters[index - 1] === 'c' }),
    );
    clock.advance(UNIT_MS);
  }
  await endRunsWith(server, outcomes, clock.now());
}

async function readComparisons(id: string): Promise<Record<string, SwitchbackComparison>> {
  const { compared } = await calls.get(id);
  return Object.fromEntries((compared as SwitchbackComparison[]).map((one) => [one.indicator, one]));
}

/** Differences between units that no plan explains. */
const NOISE = [3, -1, 2, 0, -3, 1, -2, 2, 0, -1, 3, -3, 1, 0, -2, 3, -1, 2, -3, 0, 1, -2, 3, -1];
const noise = (index: number) => NOISE[index % NOISE.length] ?? 0;
const DAY = 'bbccccbbbbccbbccccbbccbb';

/** Holm's rule with weights, from its definition. */
function adjust(pValues: readonly number[], weights: readonly number[]): number[] {
  const order = pValues
    .map((_, index) => index)
    .sort((a, b) => (pValues[a] ?? 0) / (weights[a] ?? 1) - (pValues[b] ?? 0) / (weights[b] ?? 1));
  const adjusted: number[] = [];
  order.forEach((test, step) => {
    const open = order.slice(step).reduce((sum, one) => sum + (weights[one] ?? 0), 0);
    const before = step === 0 ? 0 : (adjusted[order[step - 1] ?? 0] ?? 0);
    adjusted[test] = Math.max(before, Math.min(1, ((pValues[test] ?? 1) * open) / (weights[test] ?? 1)));
  });
  return adjusted;
}

describe('a test that ran to its end', () => {
  const objectives = {
    'result.value': 'minimize',
    'result.custom.borrowed': 'minimize',
    'result.custom.even': 'minimize',
  };
  let compared: Record<string, SwitchbackComparison>;
  beforeAll(async () => {
    await runTest('whole', {
      letters: DAY,
      overrides: { objectives, primary: 'result.value' },
      outcome: ({ index, isCandidate, followsCandidate }) => ({
        'result.value': 100 + noise(index) - (isCandidate ? 20 : 0),
        // The next unit pays the savings of the candidate: the total effect is 0.
        'result.custom.borrowed':
          100 + noise(index + 5) - (isCandidate ? 20 : 0) + (followsCandidate ? 20 : 0),
        'result.custom.even': 100 + noise(index + 11),
      }),
    });
    await calls.waitForStatus('whole', 'completed');
    compared = await readComparisons('whole');
  });

  test('D7: its verdicts use p-values that are corrected for all indicators', () => {
    const tests = ['result.value', 'result.custom.borrowed', 'result.custom.even'].map(
      (name) => compared[name]?.randomization,
    );
    // The primary indicator has 80 of the 85 % that are in use; the other two share 5 %.
    const expected = adjust(
      tests.map((one) => one?.p_value ?? Number.NaN),
      [0.8 / 0.85, 0.025 / 0.85, 0.025 / 0.85],
    );
    tests.forEach((one, index) => {
      expect(one?.p_value_holm).toBeCloseTo(expected[index] ?? Number.NaN, 12);
    });
    expect(tests[0]).toMatchObject({ method: 'exact', assignments: 64, coins: 6 });
    expect(compared['result.value']).toMatchObject({ verdict: 'better', interim: false });
  });

  test('D10: a candidate that borrows from the next unit is not better', () => {
    const borrowed = compared['result.custom.borrowed'];
    expect(borrowed?.verdict).not.toBe('better');
    // Units that follow a unit of the same side pay what they save, so the noise alone is left.
    const values = (own: boolean) =>
      [...DAY].flatMap((letter, index) =>
        (letter === 'c') === own && letter === (DAY[index - 1] ?? 'b') ? [100 + noise(index + 5)] : [],
      );
    const mean = (list: number[]) => list.reduce((sum, value) => sum + value, 0) / list.length;
    expect(borrowed?.candidate.mean).toBeCloseTo(mean(values(true)), 9);
    expect(borrowed?.control.mean).toBeCloseTo(mean(values(false)), 9);
  });

  test('D10: the answer has a test of the carry-over, and no warning that is always there', () => {
    for (const comparison of Object.values(compared)) {
      expect(comparison.carry_over_test?.p_value).not.toBeUndefined();
      expect(comparison.design).toEqual({ type: 'blocked', carry_over_units: 1, burn_in_minutes: 0 });
      expect(comparison.warnings).toEqual([]);
    }
  });
});

test('D10: without carry-over units the test warns of the assumption, and blocks a verdict that breaks it', async () => {
  const letters = 'cbbcbccbcbbccbcbbccbbccbcbbccb'.slice(0, 30);
  await runTest('assumed', {
    letters,
    plan: { design: 'independent', carry_over_units: 0 },
    overrides: { objectives: { 'result.value': 'minimize' } },
    outcome: ({ index, isCandidate, followsCandidate }) => ({
      'result.value': 100 + noise(index) - (isCandidate ? 20 : 0) + (followsCandidate ? 20 : 0),
    }),
  });
  await calls.waitForStatus('assumed', 'completed');
  const { 'result.value': comparison } = await readComparisons('assumed');
  expect(comparison?.carry_over_test?.p_value).toBeLessThan(0.01);
  expect(comparison?.verdict).toBe('undecided');
  expect(comparison?.reasons).toContainEqual(
    expect.stringContaining('The influence of a unit seems to last longer than carry_over_units = 0'),
  );
  expect(comparison?.warnings).toContainEqual(expect.stringContaining('carry_over_units is 0'));
});

test('D6: before the end the verdict comes from sequential evidence, and an early stop is recorded', async () => {
  const scenario: Scenario = {
    letters: DAY,
    overrides: { objectives: { 'result.value': 'minimize' } },
    outcome: ({ index, isCandidate }) => ({ 'result.value': 100 + noise(index) - (isCandidate ? 20 : 0) }),
  };
  await runTest('stopped', scenario, 20);
  const { 'result.value': running } = await readComparisons('stopped');
  // 14 counted units with p = 1/32 would be a verdict at a planned end; five coins are too few for sequential evidence.
  expect(running).toMatchObject({ verdict: 'undecided', interim: true, sequential: { threshold: 100 } });
  expect(running?.reasons[0]).toBe('20 of 24 units have ended.');
  expect(await calls.get('stopped/metadata')).toMatchObject({ stopped_early: false });
  expectStatus(await calls.stop('stopped'), 204);
  expect(await calls.get('stopped')).toMatchObject({ status: 'completed', stopped_early: true });
  const { 'result.value': stopped } = await readComparisons('stopped');
  expect(stopped).toMatchObject({ verdict: 'undecided', interim: true });
});

test('T9, T12: a repeat is another look at the same question, also after a deletion', async () => {
  const scenario = {
    letters: DAY,
    overrides: { objectives: { 'result.value': 'minimize' } },
    outcome: ({ index, isCandidate }: Unit) => ({ 'result.value': (isCandidate ? 60 : 100) + noise(index) }),
  };
  await runTest('look-1', scenario);
  const first = await calls.get('look-1');
  const because_of = [
    { candidate: 'candidate', indicator: 'result.value', role: 'primary', verdict: 'better' },
  ];
  expect(first.decision).toMatchObject({ release: 'yes', because_of });
  expectStatus(await calls.remove('look-1'), 204);
  await runTest('look-2', { ...scenario, overrides: { objectives: { 'result.value': 'maximize' } } });
  const second = await calls.get('look-2');
  expect(second.decision).toMatchObject({ release: 'no', because_of: [{ verdict: 'worse' }] });
  const question = second.question as Question;
  expect(question.look).toBe((first.question as Question).look + 1);
  expect(question.earlier).toContainEqual(
    expect.objectContaining({ type: 'switchback', experiment_id: 'look-1', deleted: true }),
  );
  // Live runs are new evidence, so that other rules hold nothing back.
  expect(question.changes).toEqual([]);
});

test('runs of the burn-in do not count', async () => {
  await runTest('burn-in', {
    letters: DAY,
    // Every run arrives at the start of its unit.
    plan: { burn_in_minutes: 1 },
    outcome: ({ index }) => ({ 'result.value': index }),
  });
  await calls.waitForStatus('burn-in', 'completed');
  const { 'result.value': comparison } = await readComparisons('burn-in');
  expect(comparison).toMatchObject({
    units: [],
    control: { runs: { total: 12 } },
    randomization: { p_value: null },
  });
});
