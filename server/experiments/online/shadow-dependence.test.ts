/** Shadow tests whose originals depend on each other, that are read early, and that copy a sample of the runs. */
import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memberCalls } from '../../testing/fixtures/members.ts';
import { createOnlineTestApp, shadowCalls } from '../../testing/fixtures/online-tests.ts';
import { expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { endRunsWith, type RunOutcome } from '../../testing/fixtures/run-outcomes.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const DAY_MS = 86_400_000;
/** No slot for runs of the first class, so they stay queued until the test ends them. */
const NO_SLOTS = { SWITCHYARD_CAPACITY: '6c9500mb870s=0,8c16gb12h=1' };

let server: TestServer;
let clock: ManualClock;
beforeAll(async () => {
  clock = createManualClock(Date.UTC(2026, 0, 5, 8));
  server = await startTestServer({ clock, env: NO_SLOTS });
});
afterAll(() => server.close());

/** One run of a caller: its content, the two results, and the token of the caller. */
interface Original {
  content: number;
  control: number;
  /** null for a copy that has not ended. */
  candidate: number | 'deleted' | null;
  token?: string;
  /** Milliseconds until the next one. */
  pause?: number;
}

/** Starts a test in a new application, and returns its calls. */
async function startTest(settings: object) {
  const application = uniqueId('shadow');
  await createOnlineTestApp(server, application, {});
  const calls = shadowCalls(() => server, application);
  const objectives = { 'result.value': 'minimize' };
  await calls.startTest({ objectives, ...settings });
  const createOriginal = async ({ content, token }: Pick<Original, 'content' | 'token'>) => {
    const path = `/v1/applications/${application}/runs?instance_id=baseline`;
    const body = { input: { content } };
    const response = await server.request('POST', path, { body, ...(token ? { token } : {}) });
    expectStatus(response, 202);
    return (response.body as { run_id: RunId }).run_id;
  };
  const removeRun = async (id: string) =>
    expectStatus(await server.request('DELETE', `/v1/applications/${application}/runs/${id}`), 204);
  return { ...calls, createOriginal, removeRun };
}
type Calls = Awaited<ReturnType<typeof startTest>>;

/** Creates the originals, waits for their copies, ends both, and returns the comparison. */
async function compareOriginals(calls: Calls, originals: readonly Original[]): Promise<Comparison> {
  const ids: RunId[] = [];
  for (const original of originals) {
    ids.push(await calls.createOriginal(original));
    clock.advance(original.pause ?? 1000);
  }
  await server.waitUntil(
    'runs-queued',
    async () => (await calls.get('test/metadata')).number_of_runs === originals.length,
  );
  const copies = await server.waitUntil('runs-queued', async () => {
    const found = await findCopies(ids);
    return found.size === ids.length ? found : null;
  });
  const outcomes = new Map<string, RunOutcome>();
  for (const [index, { control, candidate }] of originals.entries()) {
    const id = ids[index] ?? '';
    outcomes.set(id, { 'result.value': control });
    if (candidate === 'deleted') await calls.removeRun(copies.get(id) ?? '');
    else if (candidate !== null) outcomes.set(copies.get(id) ?? '', { 'result.value': candidate });
  }
  await endRunsWith(server, outcomes, clock.now());
  return readComparison(calls);
}

/** Returns the id of the copy of each original. */
async function findCopies(originals: readonly RunId[]): Promise<Map<string, string>> {
  const rows = await server.runningServer.database.read
    .selectFrom('runs')
    .select(['id', 'parent_run_id'])
    .where('parent_run_id', 'in', originals)
    .execute();
  return new Map(rows.map((row) => [row.parent_run_id ?? '', row.id]));
}

async function readComparison(calls: Calls): Promise<Comparison> {
  const { compared } = await calls.get('test');
  const [comparison] = (compared as { indicators: Comparison[] }[])[0]?.indicators ?? [];
  if (!comparison) throw new Error('The test has no comparison.');
  return comparison;
}

/** A candidate that is `share` lower, with some noise that is unlike for like values and for neighbours. */
function buildOriginal(index: number, share: number): Original {
  const control = 100 + ((37 * index) % 53);
  const noise = (((29 * index * index) % 17) - 8) / 1000;
  return { content: index, control, candidate: control * (1 - share + noise) };
}
const buildOriginals = (count: number, share: number) =>
  Array.from({ length: count }, (_, index) => buildOriginal(index, share));

test('deleted copies leave no verdict, because a candidate without its worst runs is better', async () => {
  const calls = await startTest({ termination_events: { maximum_runs: 40 } });
  const originals = buildOriginals(40, 0.05).map((one, index) =>
    index % 10 === 0 ? { ...one, candidate: 'deleted' as const } : one,
  );
  await compareOriginals(calls, originals);
  await calls.waitForStatus('test', 'completed');
  const comparison = await readComparison(calls);
  expect(comparison).toMatchObject({ verdict: 'undecided', interim: false, inputs: { wins: 36 } });
  expect(comparison.reasons).toContain(
    '4 of 40 copies were deleted, or lost their originals before the start; these are not a random choice, so there is no verdict.',
  );
});

describe('D5: dependent originals', () => {
  test('T9, T12: have a decision, and a repeat after a deletion is another look', async () => {
    const calls = await startTest({ termination_events: { maximum_runs: 40 } });
    const originals = buildOriginals(40, 0.05);
    await compareOriginals(calls, originals);
    await calls.waitForStatus('test', 'completed');
    const first = await calls.get('test');
    expect(first).toMatchObject({
      decision: { release: 'yes', because_of: [{ indicator: 'result.value', verdict: 'better' }] },
      question: { look: 1, earlier: [] },
    });
    expectStatus(await calls.remove('test'), 204);
    await calls.startTest({
      ...{ objectives: { 'result.value': 'minimize' }, termination_events: { maximum_runs: 40 } },
    });
    await compareOriginals(calls, originals);
    expect((await calls.get('test')).question).toMatchObject({
      ...{ look: 2, changes: [] },
      earlier: [{ type: 'shadow', experiment_id: 'test', deleted: true, shared_inputs: 40 }],
    });
  });

  test('that are independent have a verdict', async () => {
    const calls = await startTest({ termination_events: { maximum_runs: 40 } });
    await compareOriginals(calls, buildOriginals(40, 0.05));
    await calls.waitForStatus('test', 'completed');
    const comparison = await readComparison(calls);
    expect(comparison).toMatchObject({ verdict: 'better', interim: false, inputs: { total: 40, wins: 40 } });
  });

  test('that repeat 8 contents are 8 originals, too few for a verdict', async () => {
    const calls = await startTest({ termination_events: { maximum_runs: 40 } });
    const originals = buildOriginals(40, 0.05).map((_, index) => buildOriginal(index % 8, 0.05));
    const comparison = await compareOriginals(calls, originals);
    expect(comparison).toMatchObject({ verdict: 'undecided', inputs: { total: 8, wins: 8 } });
    expect(comparison.reasons).toEqual([
      '8 originals with an outcome on both sides; a verdict needs at least 10.',
    ]);
    expect(comparison.warnings).toContain(
      '32 originals of 40 repeat the content of another and count with it as one.',
    );
  });

  test('of three callers with effects of their own have no verdict', async () => {
    const { addMember } = memberCalls(() => server);
    const members = await Promise.all([1, 2].map(() => addMember(server.token, 'operator')));
    const tokens = [server.token, ...members.map(({ token }) => token)];
    const calls = await startTest({ termination_events: { maximum_runs: 30 } });
    const originals = buildOriginals(30, 0).map((_, index) => ({
      ...buildOriginal(index, [0.01, 0.05, 0.09][index % 3] ?? 0),
      token: tokens[index % 3] ?? '',
    }));
    const comparison = await compareOriginals(calls, originals);
    expect(comparison).toMatchObject({
      verdict: 'undecided',
      inputs: { wins: 30 },
      dependence: { clusterings: [{ by: 'caller', count: 3, effective: 3, use: 'different' }] },
    });
    expect(comparison.reasons).toContain(
      'The originals come from 3 clusters (caller) of unequal effects or failures, 3 of equal size: a verdict needs at least 5, or clusters that do not differ.',
    );
  });

  test('that resemble their neighbours count as fewer', async () => {
    const calls = await startTest({ termination_events: { maximum_runs: 60 } });
    // One slow wave: each effect is nearly that of the original before.
    const originals = buildOriginals(60, 0).map((_, index) =>
      buildOriginal(index, 0.05 + 0.04 * Math.sin(index / 12)),
    );
    const comparison = await compareOriginals(calls, originals);
    expect(comparison.dependence?.serial_correlation).toBeGreaterThan(0.8);
    expect(comparison.dependence?.effective_sample_size).toBeLessThan(10);
    expect(comparison.verdict).toBe('undecided');
    expect(comparison.reasons).toContainEqual(
      expect.stringMatching(
        /^Neighbouring originals resemble each other \(correlation 0\.\d\d\): 60 originals count as \d\.\d; a verdict needs at least 10\.$/,
      ),
    );
  });

  test('of six days are tested by day if the test says so', async () => {
    const settings = { termination_events: { maximum_runs: 30 }, cluster_by: ['day'] };
    const calls = await startTest(settings);
    expect(await calls.get('test/metadata')).toMatchObject({ cluster_by: ['day'] });
    const originals = buildOriginals(30, 0.05).map((original) => ({ ...original, pause: DAY_MS / 5 }));
    const comparison = await compareOriginals(calls, originals);
    expect(comparison.dependence?.clusterings).toMatchObject([{ by: 'day', use: 'tested' }]);
    expect(comparison.dependence?.clusterings[0]?.count).toBeGreaterThanOrEqual(6);
  });
});

describe('D6: a test that is read before its end', () => {
  test('with 12 of 300 copies is interim and has no verdict, also after an early stop', async () => {
    const calls = await startTest({ termination_events: { maximum_runs: 300 } });
    expect(await calls.get('test/metadata')).toMatchObject({ stopped_early: false });
    const running = await compareOriginals(calls, buildOriginals(12, 0.05));
    expect(running).toMatchObject({ verdict: 'undecided', interim: true, inputs: { usable: 12, wins: 12 } });
    expect(running.reasons[0]).toBe(
      'The experiment has not reached its planned end; 12 originals have ended so far.',
    );
    expect(running.geometric_mean_ratio?.value).toBeCloseTo(0.95, 1);

    expectStatus(await calls.stop('test'), 204);
    expect(await calls.waitForStatus('test', 'completed')).toMatchObject({ stopped_early: true });
    const stopped = await readComparison(calls);
    expect(stopped).toMatchObject({ verdict: 'undecided', interim: true });
    expect(stopped.reasons[0]).toBe('The experiment was stopped before its planned end, with 12 originals.');
  });

  test('has a verdict once its evidence reaches the limit that holds for any number of looks', async () => {
    const calls = await startTest({ termination_events: { maximum_runs: 300 } });
    const comparison = await compareOriginals(calls, buildOriginals(60, 0.4));
    expect(comparison).toMatchObject({ verdict: 'better', interim: true });
    expect(comparison.sequential?.e_value_max).toBeGreaterThanOrEqual(100);
    expect(comparison.sequential?.mean_e_value_max).toBeGreaterThanOrEqual(100);
    expect(comparison.reasons[1]).toContain('reached 100, however often you look');
  });

  test('is not stopped early at its limit', async () => {
    const calls = await startTest({ termination_events: { maximum_runs: 2 } });
    await compareOriginals(calls, buildOriginals(2, 0.05));
    expect(await calls.waitForStatus('test', 'completed')).toMatchObject({ stopped_early: false });
  });
});

describe('sample_share', () => {
  test('copies a random share of the runs, over the whole window', async () => {
    const calls = await startTest({ sample_share: 0.25, termination_events: { maximum_runs: 300 } });
    const ids: RunId[] = [];
    for (let index = 0; index < 200; index += 1) ids.push(await calls.createOriginal({ content: index }));
    expectStatus(await calls.stop('test'), 204);
    const test = await calls.get('test/metadata');
    expect(test).toMatchObject({ sample_share: 0.25 });
    const copied = await server.waitUntil('runs-queued', async () => {
      const found = await findCopies(ids);
      return found.size === Number(test.number_of_requested_runs) ? found : null;
    });
    // 50 on average with a standard deviation of 6.1; five of them are exceeded once in two million tests.
    expect(copied.size).toBeGreaterThan(19);
    expect(copied.size).toBeLessThan(81);
    const later = ids.slice(100).filter((id) => copied.has(id)).length;
    expect(later).toBeGreaterThan(3);
    expect(copied.size - later).toBeGreaterThan(3);
  });

  test('is 1 by default, and refused outside of 0 to 1', async () => {
    const calls = await startTest({});
    expect(await calls.get('test')).toMatchObject({ sample_share: 1, cluster_by: ['caller'] });
    for (const sample_share of [0, 1.01])
      expectError(await calls.create(calls.draft({ id: 'other', sample_share })), 400, 'sample_share');
    expectError(await calls.create(calls.draft({ id: 'other', cluster_by: ['hour'] })), 400, 'cluster_by');
  });
});
