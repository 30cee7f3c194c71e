/** Runs that the candidate of a switchback test refuses: they stay in the test, with what became of them. */
import type { Requirements } from '@switchyard/contract/applications/executables.ts';
import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { afterEach, expect, test } from 'vitest';
import { createRun } from '../../testing/fixtures/apps.ts';
import {
  COMPARISON,
  createOnlineTestApp,
  onlineTestCalls,
  pushOnlineTestApp,
} from '../../testing/fixtures/online-tests.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { endRunsWith, type RunOutcome } from '../../testing/fixtures/run-outcomes.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const START = Date.UTC(2026, 0, 5, 8);
const UNIT_MINUTES = 30;
const UNIT_MS = UNIT_MINUTES * 60_000;
const UNITS = 24;
/** No slot for runs of the first class, so they stay queued until the test ends them. */
const NO_SLOTS = { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' };

let server: TestServer;
let clock: ManualClock;
afterEach(() => server.close());
const calls = onlineTestCalls(() => server, 'switchback');

async function start(): Promise<void> {
  clock = createManualClock(START);
  server = await startTestServer({ clock, env: NO_SLOTS });
  await createOnlineTestApp(server, 'app', {});
}

const updateInstance = async (id: string, body: object) =>
  expectStatus(await server.request('PUT', `/v1/applications/app/instances/${id}`, { body }), 200);

type OptionItems = NonNullable<NonNullable<Requirements['options']>['items']>;

/** Gives the candidate a version with the same app that refuses every option but those of the items. */
async function makeCandidateStrict(items: OptionItems = [{ name: 'less' }]): Promise<void> {
  await pushOnlineTestApp(server, 'app', { options: { strict: true, items } });
  const body = { id: 'strict', name: 'The same app, strict' };
  await server.client.call('createVersion', { params: { application_id: 'app' }, body });
  await updateInstance('candidate', { version_id: 'strict' });
}

/** Creates and starts a test of 24 units. Returns true for each unit of the candidate. */
async function startTest(): Promise<boolean[]> {
  const created = await calls.create({
    id: 'test',
    name: 'Identical candidate',
    comparison: COMPARISON,
    generate_random_plan: { unit_duration_minutes: UNIT_MINUTES, units: UNITS },
    objectives: { 'result.value': 'minimize' },
  });
  expectStatus(created, 201);
  expectStatus(await calls.start('test'), 204);
  const { units } = (created.body as { plan: { units: { instance_id: string }[] } }).plan;
  return units.map((unit) => unit.instance_id === 'candidate');
}

/** Costs that differ between units, so that the sides have a spread. */
const easyCost = (unit: number) => 100 + ((7 * unit) % 13);

async function readComparison(): Promise<SwitchbackComparison | undefined> {
  await calls.waitForStatus('test', 'completed');
  return ((await calls.get('test')).compared as SwitchbackComparison[])[0];
}

test('D1: an identical candidate that refuses the hard runs is not better', async () => {
  await start();
  await makeCandidateStrict();
  const candidateUnits = await startTest();
  const outcomes = new Map<string, RunOutcome>();
  const hard: string[] = [];
  for (let unit = 0; unit < UNITS; unit += 1) {
    const easy = await createRun(server, 'app', { instance: 'baseline' });
    const options = { instance: 'baseline', body: { options: { note: 'hard' } } };
    hard.push(await createRun(server, 'app', options));
    outcomes.set(easy, { 'result.value': easyCost(unit) });
    outcomes.set(hard[unit] ?? '', { 'result.value': 2 * easyCost(unit) });
    clock.advance(UNIT_MS);
  }
  await endRunsWith(server, outcomes, clock.now());
  const comparison = await readComparison();
  const refused = hard.filter((_, unit) => candidateUnits[unit]);
  expect(comparison).toMatchObject({
    verdict: 'undecided',
    control: { runs: { total: 2 * UNITS - 2 * refused.length } },
    // Two runs in each of its units, one of which the candidate refused.
    candidate: {
      runs: { total: 2 * refused.length, succeeded: 2 * refused.length },
      refused: refused.length,
    },
    sample_ratio_test: { p_value: 1 },
  });
  expect(comparison?.reasons).toContainEqual(
    expect.stringContaining('The candidate refused 50\u00a0% of the runs in its units'),
  );
  expect(comparison?.warnings).toContainEqual(
    expect.stringContaining(`The candidate refused ${refused.length} runs of its units`),
  );
  const means = (isCandidate: boolean) =>
    comparison?.units.filter(({ index }) => candidateUnits[index] === isCandidate).map(({ mean }) => mean);
  const expected = (isCandidate: boolean) =>
    candidateUnits.flatMap((own, unit) => (own === isCandidate ? [1.5 * easyCost(unit)] : []));
  // The mean of each unit covers both of its runs, whichever instance served them.
  for (const side of [true, false]) expect(means(side)).toEqual(expected(side));
});

test('a refused run is listed in its unit, marked, and the baseline serves it', async () => {
  await start();
  await makeCandidateStrict();
  const candidateUnits = await startTest();
  for (let unit = 0; unit < 6; unit += 1) {
    await createRun(server, 'app', { instance: 'baseline', body: { options: { note: 'hard' } } });
    clock.advance(UNIT_MS);
  }
  const runs = (await calls.runs('test')).reverse();
  expect(
    runs.map(({ plan_unit_index, instance_id, version_id, experiment_id, candidate_refused }) => ({
      plan_unit_index,
      instance_id,
      version_id,
      experiment_id,
      candidate_refused,
    })),
  ).toEqual(
    candidateUnits.slice(0, 6).map((isCandidate, unit) => ({
      plan_unit_index: unit,
      instance_id: 'baseline',
      version_id: 'v1',
      experiment_id: 'test',
      candidate_refused: isCandidate,
    })),
  );
  expect(candidateUnits.slice(0, 6)).toContain(true);
  // The reason is that of the 400 that the candidate would have given.
  const reason = 'options.note is not an option of this app, which allows only less.';
  expect(runs.map(({ candidate_refusal }) => candidate_refusal)).toEqual(
    candidateUnits.slice(0, 6).map((isCandidate) => (isCandidate ? reason : undefined)),
  );
  const number_of_runs = candidateUnits.slice(0, 6).filter(Boolean).length;
  expect((await calls.get('test')).refusals).toEqual([
    { error: reason, run_id: runs[candidateUnits.indexOf(true)]?.id, number_of_runs },
  ]);
  expectStatus(await calls.remove('test'), 204);
  const listed = await server.request('GET', '/v1/applications/app/runs');
  expect(listed.text).not.toContain('candidate_refused');
});

test('the reason of a refusal names no option that is hidden from some role', async () => {
  await start();
  const ui = { hidden_from: ['viewer' as const] };
  await makeCandidateStrict([{ name: 'key', ui }]);
  const candidateUnits = await startTest();
  clock.advance(candidateUnits.indexOf(true) * UNIT_MS);
  await createRun(server, 'app', { instance: 'baseline', body: { options: { note: 'hard' } } });
  const [run] = await calls.runs('test');
  expect(run).toMatchObject({ candidate_refused: true });
  // The caller may see the option, so the 400 would say that only `key` is allowed.
  expect(run?.candidate_refusal).toBe('options.note is not an option of this app, which allows only none.');
  expect(JSON.stringify((await calls.get('test')).refusals)).not.toContain('key');
});

test('a run that only a full class of the candidate refuses stays in its unit, and one that both refuse is nobody’s', async () => {
  await start();
  const queuing = { queuing: { disabled: true } };
  await updateInstance('candidate', { configuration: queuing });
  const candidateUnits = await startTest();
  const candidateUnit = candidateUnits.indexOf(true);
  clock.advance(candidateUnit * UNIT_MS);
  await createRun(server, 'app', { instance: 'baseline' });
  expect(await calls.runs('test')).toMatchObject([
    {
      plan_unit_index: candidateUnit,
      instance_id: 'baseline',
      candidate_refused: true,
      candidate_refusal: expect.stringContaining('queuing'),
    },
  ]);
  const busy = await server.request('POST', '/v1/applications/app/runs?instance_id=baseline', {
    body: { input: {}, configuration: queuing },
  });
  expectStatus(busy, 429);
  expect(await calls.runs('test')).toHaveLength(1);
});

test('a candidate does not win by runs that a caller deletes', async () => {
  await start();
  const candidateUnits = await startTest();
  const outcomes = new Map<string, RunOutcome>();
  const deleted: string[] = [];
  for (let unit = 0; unit < UNITS; unit += 1) {
    for (const factor of [1, 1, 2]) {
      const id = await createRun(server, 'app', { instance: 'baseline' });
      outcomes.set(id, { 'result.value': factor * easyCost(unit) });
      if (factor === 2 && candidateUnits[unit] && deleted.length < 4) deleted.push(id);
    }
    clock.advance(UNIT_MS);
  }
  const remove = async (id: string) => {
    expectStatus(await server.request('DELETE', `/v1/applications/app/runs/${id}`), 204);
    outcomes.delete(id);
  };
  for (const id of deleted) await remove(id);
  // A run that has ended is deleted like one that has not.
  const last = [...outcomes].at(-1) ?? ['', 'failed'];
  await endRunsWith(server, new Map([last]), clock.now());
  await remove(last[0]);
  await endRunsWith(server, outcomes, clock.now());
  const ofCandidate = 4 + Number(candidateUnits.at(-1));
  const text = `5 of ${3 * UNITS} runs were deleted, ${ofCandidate} of them in the candidate's units`;
  const comparison = await readComparison();
  expect(comparison).toMatchObject({
    verdict: 'undecided',
    reasons: [expect.stringContaining(text), ...(comparison?.reasons.slice(1) ?? [])],
  });
  expect(comparison?.warnings).toContainEqual(expect.stringContaining(text));
});
