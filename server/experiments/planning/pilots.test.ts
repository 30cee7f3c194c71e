/** Plans from pilots whose inputs tie, repeat or vary alike, through HTTP. The server executes no run: each test chooses the outcomes. */
import type { ExperimentPlan } from '@switchyard/contract/experiments/experiment-plans.ts';
import type { InputSetId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAcceptanceApp, createInputSet } from '../../testing/fixtures/acceptance-tests.ts';
import { createBatchExperiment, waitForBatchEnd } from '../../testing/fixtures/batch-experiments.ts';
import { endRuns, WITHOUT_EXECUTION } from '../../testing/fixtures/chosen-outcomes.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
beforeAll(async () => {
  server = await startTestServer({ env: WITHOUT_EXECUTION });
  application = await createAcceptanceApp(server);
});
afterAll(() => server.close());

/** Control values in no order, so that they do not go along with the changes. */
const chooseControl = (place: number) => 100 + ((place * 7) % 20);

interface PilotSettings {
  /** The control's value of a place. */
  control?: (place: number) => number;
  instances?: string[];
  body?: object;
}

/**
 * Runs a batch with one input for each change of the candidate in percent, on the scale of logarithms. An input has the
 * changes of its repetitions.
 */
async function runPilot(
  changes: readonly (readonly number[])[],
  { control = chooseControl, instances = ['control', 'candidate'], body = {} }: PilotSettings = {},
): Promise<string> {
  const inputs = changes.map((_, place) => ({ control: place, depot: `depot ${place % 4}` }));
  const input_set_id = await createInputSet(server, application, inputs);
  const { body: set } = await server.client.call('getInputSet', {
    params: { application_id: application, input_set_id: input_set_id as InputSetId },
  });
  const places = new Map(set.input_ids.map((id, place) => [id as string, place]));
  const { id } = await createBatchExperiment(server, application, {
    ...{ input_set_id, instance_ids: instances, repetitions: changes[0]?.length ?? 1 },
    objectives: { 'result.value': 'minimize' },
    ...body,
  });
  const left = new Map<string, number>();
  await endRuns(server, id, ({ instance_id, input_id }) => {
    const place = places.get(input_id) ?? 0;
    const repetition = left.get(`${instance_id} ${input_id}`) ?? 0;
    left.set(`${instance_id} ${input_id}`, repetition + 1);
    const isChanged = instance_id === instances.at(-1);
    const change = isChanged ? (changes[place]?.[repetition] ?? 0) : 0;
    return { indicators: { 'result.value': control(place) * Math.exp(change / 100) } };
  });
  await waitForBatchEnd(server, application, id);
  return id;
}

const request = (experiment_id: string, body: object = {}) =>
  server.request('POST', `/v1/applications/${application}/experiments/plan`, {
    body: { experiment_id, difference: { type: 'relative', value: 0.02 }, ...body },
  });
async function plan(experiment_id: string, body: object = {}): Promise<ExperimentPlan> {
  const response = await request(experiment_id, body);
  expectStatus(response, 200);
  return response.body as ExperimentPlan;
}

/** One repetition for each change. */
const once = (...changes: number[]) => changes.map((change) => [change]);
const tied = (count: number) => new Array<number>(count).fill(0);
/** Changes of no order, all different: neighbours, and like places, are unlike. */
const MIXED = [4, -3, 1, -1, 3, -4, 2, -2, 5, -5];

/** Inputs for a relative difference of 2 % in 80 % of experiments, by hand; see planning.test.ts. */
const computeNeeded = (variance: number) => {
  // Up to 20 inputs at an error rate of 5 %, more at 4 %.
  const [few = 0, many = 0] = [1.959_964, 2.053_749].map((z) =>
    Math.ceil(((z + 0.841_621) ** 2 * variance * Math.PI) / 3 / Math.log(1.02) ** 2 + z ** 2 / 2),
  );
  return Math.max(10, few <= 20 ? few : many);
};

describe('T6: a plan from a pilot', () => {
  test.each([
    [once(...tied(10)), 'None of 10 inputs differs.'],
    [once(1, ...tied(9)), 'Only 1 of 10 inputs differs.'],
    [once(2, -1, 3, 1, -2, ...tied(5)), 'Only 5 of 10 inputs differ.'],
    [once(2, -1, 3, 1, -2), 'Only 5 of 5 inputs differ.'],
    [once(...new Array<number>(10).fill(2)), 'All 10 inputs differ by the same amount'],
  ])('of the changes %j is a 400 that counts the inputs that differ', async (changes, text) => {
    const id = await runPilot(changes);
    for (const body of [{}, { inputs: 20 }, { difference: { type: 'absolute', value: 1 } }]) {
      const isRelativeOnly = text.startsWith('All') && 'difference' in body;
      if (isRelativeOnly) continue;
      const response = await request(id, body);
      expectError(response, 400, text);
      expectError(response, 400, 'Run it on more inputs, such as those of a larger input set');
      expectError(response, 400, 'between_inputs and within_input');
    }
  });

  test('counts values that tie_tolerance makes equal as ties', async () => {
    const objectives = { 'result.value': { direction: 'minimize', tie_tolerance: 0.008 } };
    const id = await runPilot(once(2, -1, 3, 1, -2, 0.5, -0.5, 0.7, 0.1, 0.2), { body: { objectives } });
    expectError(await request(id), 400, 'Only 5 of 10 inputs differ.');
  });

  test('of six that differ has the upper 80 % limit of their variance', async () => {
    const found = await plan(await runPilot(once(4, 3, 1, -2, -1, 0, 2, 0, 0, 0)), { inputs: 15 });
    // scipy: 9 / chi2.ppf(0.2, 9).
    const factor = 1.672_845_907_974_497;
    expect(found.observed).toMatchObject({ units: 10, differing: 6, pairs: 10, design_effect: 1 });
    expect(found.observed?.variance_factor).toBeCloseTo(factor, 8);
    // The squared deviations from the mean 0.7 sum to 30.1: 30.1 / 9 = 3.344 squared percent.
    const variance = 30.1 / 9 / 10_000;
    expect(found.between_inputs).toBeCloseTo(Math.sqrt(variance), 10);
    expect(found.plans.map(({ inputs }) => inputs)).toEqual(
      new Array(5).fill(computeNeeded(variance * factor)),
    );
    // 2.801585 × √(variance × factor / ((15 - 1.920729) × 3 / π)).
    const effect = 2.801_585 * Math.sqrt((variance * factor) / (((15 - 1.920_729) * 3) / Math.PI));
    expect(found.detectable_difference).toBeCloseTo(Math.expm1(effect), 5);
    expect(found.sentences.at(-1)).toBe(
      'The spread comes from 10 inputs of candidate against control. The plan takes the upper 80\u00a0% confidence limit of its variance, 1.7 times the estimate.',
    );
  });

  test('with repetitions has the limit of both variances together', async () => {
    // Two repetitions, c ± 1 %: the variance of a pair is 2, and that of the means of ten inputs 110 / 9.
    const found = await plan(await runPilot(MIXED.map((change) => [change - 1, change + 1])));
    const means = 110 / 9;
    expect(found.observed).toMatchObject({ units: 10, differing: 10, pairs: 20 });
    // scipy: degrees / chi2.ppf(0.2, degrees) - 1 of 9 and 10 degrees; once on each side has half a variance of a pair more.
    const limit = means + 1 + Math.hypot(0.672_845_908 * means, 0.618_364_094);
    expect(found.plans[0]?.inputs).toBe(computeNeeded(limit / 10_000));
    expect(found.plans[1]?.inputs).toBe(computeNeeded((means * 1.672_845_908) / 10_000));
    expect(found.observed?.variance_factor).toBeCloseTo(limit / (means + 1), 6);
    // More repetitions than the pilot never need more inputs.
    const inputs = found.plans.map((one) => one.inputs);
    expect(inputs).toEqual(inputs.toSorted((a, b) => b - a));
  });

  test('of one instance counts the inputs whose repetitions differ', async () => {
    const run = (differing: number) =>
      runPilot(
        MIXED.map((change, place) => (place < differing ? [change, -change] : [0, 0])),
        { instances: ['candidate'] },
      );
    expectError(await request(await run(5)), 400, 'Only 5 of 10 inputs differ.');
    const found = await plan(await run(6));
    expect(found).toMatchObject({ between_inputs: null, observed: { units: 10, differing: 6, pairs: 20 } });
    // The squares of 4, 3, 1, 1, 3 and 4 count twice: 104 / 10 = 10.4, twice for both sides; 10 / chi2.ppf(0.2, 10).
    expect(found.plans[0]?.inputs).toBe(computeNeeded((2 * 10.4 * 1.618_364_094) / 10_000));
  });
});

/** The changes of four inputs in five versions each, whose control values are alike too. */
const FOUR_IN_FIVE = Array.from({ length: 20 }, (_, place) => ([5, 7, -1, 6][place % 4] ?? 0) + place / 100);

describe('T6: a plan from related inputs', () => {
  test('that look like versions of a few is a 400 that says so', async () => {
    const id = await runPilot(once(...FOUR_IN_FIVE), { control: (place) => 1000 * 2 ** (place % 4) + place });
    const response = await request(id);
    expectError(response, 400, 'The inputs look like versions of a few.');
    expectError(response, 400, 'Name the field they come from in cluster_by');
  });

  test('in too few declared clusters is a 400 that counts them', async () => {
    const id = await runPilot(once(...FOUR_IN_FIVE), { body: { cluster_by: ['/depot'] } });
    expectError(await request(id), 400, 'The 20 inputs are 4 groups by /depot');
  });

  test('that form groups plans more inputs than from independent ones', async () => {
    // Thirteen inputs in two versions each. The groups are found, and both versions say little more than one.
    const bases = [4, -3, 1, -1, 3, -4, 2, -2, 5, -5, 0.5, -6, 6];
    const changes = Array.from({ length: 26 }, (_, place) => (bases[place >> 1] ?? 0) + (place % 2) / 10);
    const settings = { control: (place: number) => 1000 * (1 + (place >> 1)) + place };
    const grouped = await plan(await runPilot(once(...changes), settings));
    const body = { cluster_by: ['content'] };
    const declared = await plan(await runPilot(once(...changes), { ...settings, body }));
    expect(declared.observed?.design_effect).toBe(1);
    expect(grouped.observed?.design_effect).toBeGreaterThan(1.9);
    expect(grouped.plans[0]?.inputs).toBeGreaterThan(1.9 * (declared.plans[0]?.inputs ?? 0));
  });
});
