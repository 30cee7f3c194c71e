/**
 * Bisect experiments over versions that cannot be compared, through HTTP. The server executes no run: each test chooses the
 * outcomes.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  bisectCalls,
  bisectedApp,
  createBisectedApplication,
  runBisect,
} from '../../testing/fixtures/bisect-experiments.ts';
import {
  type ChosenOutcome,
  type ChosenRun,
  endRuns,
  WITHOUT_EXECUTION,
} from '../../testing/fixtures/chosen-outcomes.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const VERSIONS = ['v1', 'v2', 'v3', 'v4', 'v5', 'w1', 'w2', 'w3'];
const APP = '/v1/applications/app';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: WITHOUT_EXECUTION });
  const files = bisectedApp(1);
  const inputs = { one: { size: 1 }, two: { size: 2 } };
  await createBisectedApplication(
    server,
    Object.fromEntries(VERSIONS.map((version) => [version, files])),
    inputs,
  );
});
afterAll(() => server.close());

const { create, get, remove } = bisectCalls(() => server, {
  name: 'Dearer since spring',
  input_ids: ['one'],
  indicator: 'result.value',
  good_version_id: 'v1',
  bad_version_id: 'v5',
  difference: { type: 'relative', value: 0.04 },
});

const value = (number: number): ChosenOutcome => ({ indicators: { 'result.value': number } });
const FAILED: ChosenOutcome = { status: 'failed' };
const UNREPORTED: ChosenOutcome = { indicators: { other: 1 } };
const runsVersion = ({ version_id }: ChosenRun, ...versions: string[]) => versions.includes(version_id);
/** From v4 on the value is 4 % larger. */
const worseFromV4 = (run: ChosenRun) => value(runsVersion(run, 'v4', 'v5') ? 104 : 100);

async function search(id: string, choose: (run: ChosenRun) => ChosenOutcome, changes: object = {}) {
  expectStatus(await create(id, changes), 201);
  return runBisect(server, id, choose);
}

describe('a version between the good and the bad one is skipped', () => {
  test('when it was deleted, and the culprit is a range', async () => {
    expectStatus(await create('deleted', { good_version_id: 'w1', bad_version_id: 'w3' }), 201);
    expectStatus(await server.request('DELETE', `${APP}/versions/w2`), 204);
    const ended = await runBisect(server, 'deleted', (run) => value(runsVersion(run, 'w3') ? 104 : 100));
    expect(ended).toMatchObject({
      status: 'completed',
      verdict: 'narrowed',
      last_good_version_id: 'w1',
      first_bad_version_id: 'w3',
      possible_version_ids: ['w2', 'w3'],
      skipped_versions: [{ version_id: 'w2', reason: expect.stringContaining('There is no version "w2"') }],
      runs_needed: null,
    });
    expect(ended.reason).toContain('The versions in between cannot be compared: "w2".');
    expect(ended.steps.map(({ version_id, decision }) => [version_id, decision])).toEqual([
      ['w3', 'worse'],
      ['w2', 'skipped'],
    ]);
    // The refusals are listed with their reason, as for a batch. The runs of the good version were created.
    const refused = ended.refused_runs;
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused.map(({ version_id }) => version_id))).toEqual(new Set(['w2']));
    expect(ended.failures).toEqual([
      {
        instance_id: '',
        version_id: 'w2',
        error: refused[0]?.error,
        run_id: null,
        number_of_runs: refused.length,
      },
    ]);
  });

  test('when all of its runs fail and the bad version runs, and an adjacent culprit is found', async () => {
    const ended = await search('broken', (run) => (runsVersion(run, 'v3') ? FAILED : worseFromV4(run)), {
      bad_version_id: 'v4',
    });
    // v3 is the only version between v2 and v4.
    expect(ended).toMatchObject({
      verdict: 'narrowed',
      last_good_version_id: 'v2',
      possible_version_ids: ['v3', 'v4'],
      skipped_versions: [{ version_id: 'v3', reason: expect.stringContaining('runs failed') }],
    });
    const adjacent = await search('adjacent', (run) =>
      runsVersion(run, 'v3') ? FAILED : value(runsVersion(run, 'v1') ? 100 : 104),
    );
    expect(adjacent).toMatchObject({
      verdict: 'found',
      first_bad_version_id: 'v2',
      possible_version_ids: ['v2'],
      skipped_versions: [{ version_id: 'v3' }],
    });
  });

  test('when it does not report the indicator', async () => {
    const ended = await search('unreported', (run) =>
      runsVersion(run, 'v2', 'v3') ? UNREPORTED : worseFromV4(run),
    );
    expect(ended).toMatchObject({
      verdict: 'narrowed',
      last_good_version_id: 'v1',
      possible_version_ids: ['v2', 'v3', 'v4'],
      skipped_versions: [{ version_id: 'v3' }, { version_id: 'v2' }],
    });
    expect(ended.skipped_versions[0]?.reason).toContain('reported result.value');
  });
});

test('a version that fails on one of two inputs is tested, not skipped', async () => {
  const choose = (run: ChosenRun) =>
    run.input_id === 'two' && runsVersion(run, 'v3', 'v4') ? FAILED : worseFromV4(run);
  const ended = await search('partly', choose, { input_ids: ['one', 'two'] });
  expect(ended).toMatchObject({ verdict: 'found', first_bad_version_id: 'v3', skipped_versions: [] });
});

test('F3: a version is not skipped for one failed run, before as many as a decision takes', async () => {
  const ended = await search('once', (run) =>
    runsVersion(run, 'v3') && run.repetition === 0 ? FAILED : worseFromV4(run),
  );
  expect(ended).toMatchObject({ verdict: 'found', first_bad_version_id: 'v4', skipped_versions: [] });
});

test('a version from which on every run times out is found', async () => {
  const ended = await search('time-out', (run) => (runsVersion(run, 'v3', 'v4', 'v5') ? FAILED : value(100)));
  expect(ended).toMatchObject({
    verdict: 'found',
    last_good_version_id: 'v2',
    first_bad_version_id: 'v3',
    skipped_versions: [],
  });
});

describe('the search fails, and says why,', () => {
  test.for<{ title: string; choose: (run: ChosenRun) => ChosenOutcome; words: string }>([
    {
      title: 'the good version does not report the indicator',
      choose: (run) => (runsVersion(run, 'v1') ? UNREPORTED : value(104)),
      words: 'No run of the version "v1" reported result.value',
    },
    {
      title: 'the bad version does not report the indicator',
      choose: (run) => (runsVersion(run, 'v5') ? UNREPORTED : value(104)),
      words: 'No run of the version "v5" reported result.value',
    },
    { title: 'all runs fail', choose: () => FAILED, words: 'All runs of the version "v1" failed' },
  ])('when $title', async ({ title, choose, words }) => {
    const ended = await search(title.replaceAll(' ', '-'), choose);
    expect(ended).toMatchObject({ status: 'failed', verdict: 'failed', first_bad_version_id: null });
    expect(ended.reason).toContain(words);
  });

  test('when its instance was deleted', async () => {
    const instance = { id: 'gone', name: 'Gone soon', version_id: 'v1' };
    expectStatus(await server.request('POST', `${APP}/instances`, { body: instance }), 201);
    expectStatus(await create('instance', { instance_id: 'gone' }), 201);
    expectStatus(await server.request('DELETE', `${APP}/instances/gone`), 204);
    const ended = await runBisect(server, 'instance', worseFromV4);
    expect(ended).toMatchObject({ status: 'failed', verdict: 'failed' });
    expect(ended.reason).toContain('There is no instance "gone"');
    expect(ended.failures.map(({ error }) => error)).toContainEqual(
      expect.stringContaining('There is no instance "gone"'),
    );
  });
});

describe('canceled runs of a version, which is as good as the others,', () => {
  // Without its even repetitions, the version is 4 % worse.
  const chooseNoisy = (version: string) => (run: ChosenRun) => {
    if (!runsVersion(run, version)) return worseFromV4(run);
    return (run.repetition ?? 0) % 2 === 0 ? ({ status: 'canceled' } as const) : value(104);
  };

  test('skip it', async () => {
    const ended = await search('selected', chooseNoisy('v3'));
    expect(ended).toMatchObject({ possible_version_ids: ['v3', 'v4'], verdict: 'narrowed' });
    const [skipped] = ended.skipped_versions;
    expect(skipped).toMatchObject({ version_id: 'v3' });
    // One pair with the good version, and one with the bad one.
    expect(skipped?.reason).toContain('2 of 2 pairs of runs have no outcome because');
  });

  test('end the search if it is the bad one', async () => {
    const ended = await search('selected-bad', chooseNoisy('v5'));
    expect(ended).toMatchObject({ verdict: 'failed', first_bad_version_id: null });
    expect(ended.reason).toContain('The version "v5" cannot be compared');
  });
});

describe('T11: a change of another size than asked for is said', () => {
  const chooseValues = (values: Record<string, number>) => (run: ChosenRun) =>
    value(values[run.version_id ?? ''] ?? 100);

  test('when the step is smaller, also below half of the difference', async () => {
    const ended = await search('smaller', chooseValues({ v4: 101, v5: 101 }));
    expect(ended).toMatchObject({ verdict: 'found', first_bad_version_id: 'v4', later_change: null });
    expect(ended.change?.effect).toBeCloseTo(0.01, 12);
    expect(ended.reason).toContain(
      'You asked for 4\u00a0%; the change at "v4" is 1\u00a0% (95\u00a0% interval 1\u00a0% to 1\u00a0%).',
    );
    // The rounds of v3 and v4 have the bad version too, so that a version must be better than it.
    const response = await server.request('GET', `${APP}/experiments/bisect/smaller/runs`);
    const { runs } = response.body as { runs: ChosenRun[] };
    const listVersions = (step: string) =>
      new Set(runs.filter(({ scenario_id }) => scenario_id === step).map(({ version_id }) => version_id));
    expect(listVersions('v5')).toEqual(new Set(['v1', 'v5']));
    expect(listVersions('v3')).toEqual(new Set(['v1', 'v3', 'v5']));
  });

  test('when a later version is worse again', async () => {
    const ended = await search('again', chooseValues({ v4: 102, v5: 110 }));
    expect(ended).toMatchObject({ verdict: 'found', first_bad_version_id: 'v4' });
    expect(ended.later_change?.effect).toBeCloseTo(110 / 102 - 1, 12);
    expect(ended.reason).toContain('A later version made it worse again: "v5" is 7.8\u00a0%');
  });

  test('when the bad version is not shown to be worse before 4 % is excluded', async () => {
    // A quarter of the rounds is better than the good version.
    const choose = (run: ChosenRun) =>
      value(runsVersion(run, 'v5') ? ((run.repetition ?? 0) % 4 === 0 ? 99.9 : 100.1) : 100);
    const ended = await search('less', choose, { input_ids: ['one'] });
    expect(ended).toMatchObject({ verdict: 'not_distinguishable', first_bad_version_id: null, change: null });
    expect(ended.reason).toContain('is not worse than "v1" by 4\u00a0% or more on these inputs.');
  });
});

describe('an answer that is open says what it takes', () => {
  test('in runs and in rounds, when the runs are used up', async () => {
    // The difference is -8 % and 12 % in turn: on either side of 0, and of the 4 % that matter.
    const choose = (run: ChosenRun) => {
      const changed = (run.repetition ?? 0) % 2 === 0 ? 112 : 92;
      return value(runsVersion(run, 'v5') ? changed : 100);
    };
    const ended = await search('open', choose, { input_ids: ['one', 'two'], maximum_runs: 120 });
    expect(ended).toMatchObject({ status: 'completed', verdict: 'not_distinguishable' });
    const needed = ended.runs_needed ?? 0;
    expect(needed).toBeGreaterThan(0);
    expect(ended.reason).toContain(`About ${needed} more runs may decide: ${needed / 4} rounds`);
    expect(ended.number_of_requested_runs).toBeLessThanOrEqual(120);
  });

  test('in rounds for half of the difference, when the bad version is not worse', async () => {
    const ended = await search('equal', () => value(100));
    expect(ended).toMatchObject({ verdict: 'not_distinguishable', possible_version_ids: [] });
    expect(ended.reason).toMatch(/A search for half of this difference takes about \d+ rounds a version\.$/);
  });
});

test('a version in use by a started search cannot be deleted while it is the good or the bad one', async () => {
  expectStatus(await create('used'), 201);
  for (const version of ['v1', 'v5'])
    expectError(
      await server.request('DELETE', `${APP}/versions/${version}`),
      400,
      'used by the bisect experiment "used"',
    );
  expectStatus(await remove('used'), 204);
  expectError(await server.request('GET', `${APP}/experiments/bisect/used`), 404, 'used');
});

test('F3: a search queues one round of its inputs, and the next one after it has read that', async () => {
  const created = await create('running', { input_ids: ['one', 'two'] });
  expectStatus(created, 201);
  expect(created.body).toMatchObject({ number_of_requested_runs: 4 });
  for (const round of [0, 1]) {
    const running = await server.waitUntil('runs-planned', async () => {
      const found = await get('running');
      return found.number_of_requested_runs > 4 * round ? found : null;
    });
    expect(running).toMatchObject({
      status: 'started',
      verdict: 'running',
      number_of_requested_runs: 4 * (round + 1),
      possible_version_ids: [],
      steps: [{ version_id: 'v5', decision: null, number_of_rounds: round }],
    });
    await endRuns(server, 'running', worseFromV4);
  }
});
