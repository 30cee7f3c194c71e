/**
 * Races of scenario tests through HTTP. The server executes no run: each test chooses the outcomes. The expected e-values are
 * arithmetic, from the formulas at the head of statistics/racing/race.ts.
 */
import type {
  BatchExperiment,
  BatchExperimentInfo,
} from '@switchyard/contract/experiments/batch-experiments.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAcceptanceApp, createInputSet } from '../../testing/fixtures/acceptance-tests.ts';
import {
  batchExperimentPath,
  createBatchExperiment,
  waitForBatchEnd,
} from '../../testing/fixtures/batch-experiments.ts';
import {
  type ChosenOutcome,
  type ChosenRun,
  endRuns,
  WITHOUT_EXECUTION,
} from '../../testing/fixtures/chosen-outcomes.ts';
import { expectError, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const INPUTS = 20;
let server: TestServer;
let application: string;
let set: string;
beforeAll(async () => {
  server = await startTestServer({ env: WITHOUT_EXECUTION });
  application = await createAcceptanceApp(server);
  set = await createInputSet(
    server,
    application,
    Array.from({ length: INPUTS }, (_, size) => ({ control: size })),
  );
});
afterAll(() => server.close());

/** Returns the request for a race of the scenarios; the first is the control. */
const describeRace = (scenarios: readonly string[], changes: object = {}) => ({
  id: uniqueId('race'),
  name: 'Any name',
  type: 'scenario',
  input_set_id: set,
  runs: scenarios.map((scenario_id) => ({ instance_id: 'control', scenario_id })),
  objectives: { 'result.value': 'minimize' },
  racing: {},
  ...changes,
});

const read = async (id: string): Promise<BatchExperiment> => {
  const response = await server.request('GET', batchExperimentPath(application, `/${id}`));
  expectStatus(response, 200);
  return response.body as BatchExperiment;
};

const readMetadata = async (id: string): Promise<BatchExperimentInfo> => {
  const response = await server.request('GET', batchExperimentPath(application, `/${id}/metadata`));
  expectStatus(response, 200);
  return response.body as BatchExperimentInfo;
};

/** Ends the runs that are planned now, and waits until the race has ended or planned others. */
async function endRound(id: string, choose: (run: ChosenRun) => ChosenOutcome): Promise<boolean> {
  const before = await readMetadata(id);
  await endRuns(server, id, choose);
  const isDone = async () => {
    const { status, racing } = await readMetadata(id);
    if (status !== 'started') return 'ended';
    return racing?.inputs_planned === before.racing?.inputs_planned ? 'waiting' : 'planned';
  };
  await expect.poll(isDone).not.toBe('waiting');
  return (await isDone()) === 'ended';
}

async function raceToEnd(id: string, choose: (run: ChosenRun) => ChosenOutcome): Promise<BatchExperiment> {
  for (;;) if (await endRound(id, choose)) return waitForBatchEnd(server, application, id);
}

/** The value of a scenario is this share of the size of the input. */
const SHARES: Record<string, number> = { control: 1, good: 0.97, equal: 1, bad: 3, worst: 4 };
const sizes = new Map<string, number>();
const report = ({ input_id, scenario_id }: ChosenRun): ChosenOutcome => {
  const size = sizes.get(input_id) ?? 100 + sizes.size;
  sizes.set(input_id, size);
  return { indicators: { 'result.value': size * (SHARES[scenario_id ?? ''] ?? Number.NaN) } };
};

/** Returns the e-value after so many inputs with the same change, of which 0.5 is the largest loss. */
function computeConstantEvidence(inputs: number, change: number): number {
  const bets = [
    { rate: 1, part: 1 / 2 },
    { rate: 1 / 2, part: 1 / 4 },
    { rate: 1 / 4, part: 1 / 8 },
    { rate: 1 / 8, part: 1 / 8 },
  ];
  return bets.reduce(
    (total, { rate, part }) => total + part * Math.max(0, 1 + (rate * change) / 0.5) ** inputs,
    0,
  );
}

test('a configuration that loses every input is dropped after ten, and the others run the rest', async () => {
  const created = await createBatchExperiment(server, application, describeRace(['control', 'good', 'bad']));
  expect(created).toMatchObject({
    type: 'scenario',
    number_of_requested_runs: 60,
    number_of_runs: 30,
    racing: {
      confidence: 0.95,
      indicator: 'result.value',
      inputs: 20,
      inputs_planned: 10,
      configurations: 3,
      configurations_dropped: 0,
      runs_saved: 0,
    },
  });
  await endRound(created.id, report);
  const running = await read(created.id);
  expect(running.racing).toMatchObject({ inputs_planned: 20, configurations_dropped: 1, runs_saved: 10 });
  expect(running.comparisons.map(({ racing }) => racing?.status)).toEqual(['running', 'dropped']);

  const ended = await raceToEnd(created.id, report);
  expect(ended).toMatchObject({
    status: 'completed',
    number_of_requested_runs: 60,
    number_of_runs: 50,
    racing: { inputs_planned: 20, configurations_dropped: 1, runs_saved: 10 },
  });
  const [good, bad] = ended.comparisons;
  expect(bad).toMatchObject({
    candidate: { scenario_id: 'bad' },
    racing: { status: 'dropped', inputs: 10, dropped_after_inputs: 10, against: { scenario_id: 'good' } },
    indicators: [{ verdict: 'undecided', interim: true, inputs: { total: 10, losses: 10 } }],
  });
  // 3 is worse than 1 by two thirds, and worse than 0.97 by a little more.
  const against = (computeConstantEvidence(10, 2 / 3) + computeConstantEvidence(10, 2.03 / 3)) / 2;
  expect((bad?.racing?.e_value ?? 0) / against).toBeCloseTo(1, 9);
  expect(bad?.racing?.threshold).toBeCloseTo(20, 12);
  expect(bad?.indicators[0]?.reasons.join(' ')).toContain('The race dropped this candidate after 10 inputs');
  expect(good).toMatchObject({
    candidate: { scenario_id: 'good' },
    racing: { status: 'finished', inputs: 20, dropped_after_inputs: null, against: null },
    indicators: [{ verdict: 'better', interim: false, inputs: { total: 20, wins: 20 } }],
  });
  // Against the control over 20 inputs, and against the dropped one over 10.
  const evidence =
    (computeConstantEvidence(20, 1 - 1 / 0.97) + computeConstantEvidence(10, 1 - 3 / 0.97)) / 2;
  expect(good?.racing?.e_value).toBeCloseTo(evidence, 12);
  expect(good?.indicators[0]?.reasons.join(' ')).toContain('ran every input of the race');
  // The dropped candidate keeps its share of the family: 2 / 2^20, times two candidates.
  expect(good?.indicators[0]?.wilcoxon.p_value_holm).toBeCloseTo(4 / 2 ** 20, 12);
  expect(ended.warnings.join(' ')).toContain('The race dropped 1 of 3 configurations');
  expect(ended.profiles?.[0]?.groups.map(({ scenario_id }) => scenario_id)).toEqual(['control', 'good']);
});

test('a race ends when every candidate is dropped, also one that fails', async () => {
  const { id } = await createBatchExperiment(
    server,
    application,
    describeRace(['control', 'worst', 'failing']),
  );
  const ended = await raceToEnd(id, (run) =>
    run.scenario_id === 'failing' ? { status: 'failed' } : report(run),
  );
  expect(ended).toMatchObject({
    status: 'completed',
    number_of_runs: 30,
    racing: { inputs_planned: 10, configurations_dropped: 2, runs_saved: 30 },
  });
});

test('configurations that tie stay, and their comparisons are those of a test without a race', async () => {
  const names = ['control', 'equal'];
  const raced = await createBatchExperiment(server, application, describeRace(names));
  const plain = await createBatchExperiment(server, application, describeRace(names, { racing: null }));
  expect(plain.racing).toBeUndefined();
  const results = [await raceToEnd(raced.id, report)];
  await endRuns(server, plain.id, report);
  results.push(await waitForBatchEnd(server, application, plain.id));
  const [withRace, without] = results.map(({ comparisons }) => comparisons[0]?.indicators[0]);
  expect(withRace?.verdict).toBe('same');
  expect(withRace?.wilcoxon).toEqual(without?.wilcoxon);
  expect(withRace?.mean_difference?.value).toBe(without?.mean_difference?.value);
  expect(results[0]?.racing?.runs_saved).toBe(0);
});

test('a restart in the middle loses nothing and decides the same', async () => {
  const { id, run_order } = await createBatchExperiment(
    server,
    application,
    describeRace(['control', 'good', 'bad', 'worst'], { racing: { confidence: 0.9 } }),
  );
  await server.restart();
  await endRound(id, report);
  await server.restart();
  const { comparisons, racing, number_of_runs } = await raceToEnd(id, report);
  expect(run_order?.seed).toBe((await read(id)).run_order?.seed);
  expect(comparisons.map(({ racing }) => racing?.status)).toEqual(['finished', 'dropped', 'dropped']);
  expect(racing).toMatchObject({ confidence: 0.9, inputs_planned: 20, runs_saved: 20 });
  expect(number_of_runs).toBe(60);
});

test('option sets, repetitions and the order of the runs are those of the request', async () => {
  const runs = ['control', 'good'].flatMap((scenario_id) =>
    [0, 1].map((repetition) => ({
      instance_id: 'control',
      option_set: scenario_id,
      scenario_id,
      repetition,
    })),
  );
  const option_sets = { control: { depth: '1' }, good: { depth: '2' } };
  const { id } = await createBatchExperiment(server, application, describeRace([], { runs, option_sets }));
  await raceToEnd(id, report);
  const response = await server.request('GET', batchExperimentPath(application, `/${id}/runs`));
  const list = (response.body as Pick<BatchExperiment, 'runs'>).runs.reverse();
  expect(list).toHaveLength(80);
  // Four runs of each input follow each other: two configurations in each of two repetitions.
  for (let input = 0; input < INPUTS; input += 1) {
    const ofInput = list.slice(4 * input, 4 * input + 4);
    expect(new Set(ofInput.map(({ input_id }) => input_id)).size).toBe(1);
    expect(ofInput.map(({ repetition }) => repetition)).toEqual([0, 0, 1, 1]);
    for (const { scenario_id, options } of ofInput)
      expect(options?.depth).toBe(scenario_id === 'good' ? '2' : '1');
  }
  expect(new Set(list.map(({ input_id }) => input_id)).size).toBe(INPUTS);
});

test.each([
  ['option_set', { option_set: 'deep' }],
  ['scenario_id', { scenario_id: 'deep' }],
])('the first configuration is the control when it alone has no %s', async (_field, second) => {
  const runs = [{ instance_id: 'control' }, { instance_id: 'control', ...second }];
  const option_sets = { deep: { depth: '2' } };
  const { id } = await createBatchExperiment(server, application, describeRace([], { runs, option_sets }));
  const { comparisons, racing } = await raceToEnd(id, ({ option_set, scenario_id }) => ({
    indicators: { 'result.value': option_set === 'deep' || scenario_id === 'deep' ? 300 : 100 },
  }));
  expect(comparisons).toMatchObject([
    {
      control: { instance_id: 'control' },
      candidate: second,
      racing: { status: 'dropped' },
      indicators: [{ inputs: { losses: 10 } }],
    },
  ]);
  expect(racing?.runs_saved).toBe(20);
});

describe('a race is a 400', () => {
  const two = ['control', 'good'];
  const run = (input_id: string) => ({ instance_id: 'control', scenario_id: 'good', input_id });
  test.each([
    ['of another type', () => describeRace(two, { type: 'batch' }), 'type is not "scenario"'],
    ['without an indicator that decides', () => describeRace(two, { objectives: {} }), '0 indicators'],
    [
      'with two of them',
      () => describeRace(two, { objectives: { a: 'minimize', b: 'maximize' } }),
      'name the indicator that decides as primary',
    ],
    [
      'with clusters',
      () => describeRace(two, { cluster_by: ['/depot'] }),
      'racing and cluster_by are both given',
    ],
    ['of one configuration', () => describeRace(['control']), 'all runs have the same configuration'],
    [
      'with a configuration that misses an input',
      () =>
        describeRace([], {
          runs: [{ instance_id: 'control' }, ...[...sizes.keys()].slice(0, 3).map(run)],
        }),
      'do not run the same inputs equally often',
    ],
    ['with an impossible confidence', () => describeRace(two, { racing: { confidence: 1 } }), 'confidence'],
    ['with an unknown field', () => describeRace(two, { racing: { alpha: 0.1 } }), 'alpha'],
  ])('%s', async (_reason, describeBody, message) => {
    const response = await server.request('POST', batchExperimentPath(application), {
      body: describeBody(),
    });
    expectError(response, 400, message);
  });

  test('with too few inputs', async () => {
    const few = await createInputSet(
      server,
      application,
      Array.from({ length: 10 }, (_, size) => ({ candidate: size })),
    );
    const response = await server.request('POST', batchExperimentPath(application), {
      body: describeRace(two, { input_set_id: few }),
    });
    expectError(response, 400, 'has 10; use at least 11');
  });

  test('for a run that wants to join it', async () => {
    const { id } = await createBatchExperiment(server, application, describeRace(two));
    const response = await server.request('POST', `/v1/applications/${application}/runs`, {
      body: { input: {}, batch_experiment_id: id },
    });
    expectError(response, 400, 'which is a race');
  });
});
