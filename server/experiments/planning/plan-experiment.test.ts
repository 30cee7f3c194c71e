/** Plans of experiments through the API: from runs, from assumptions, and refused requests. */
import type { ExperimentPlan } from '@switchyard/contract/experiments/experiment-plans.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import {
  createBatchExperiment,
  createExperimentApplication,
  waitForBatchEnd,
} from '../../testing/fixtures/batch-experiments.ts';
import { createOnlineTestApp, onlineTestCalls, shadowCalls } from '../../testing/fixtures/online-tests.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock, type ManualClock } from '../../testing/host/manual-clock.ts';
import type { TestResponse } from '../../testing/http/request.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const MINUTE_MS = 60_000;
let server: TestServer;
let clock: ManualClock;
beforeAll(async () => {
  clock = createManualClock(Date.UTC(2026, 0, 5, 8));
  server = await startTestServer({ clock });
});
afterAll(() => server.close());

const request = (application: string, body: object): Promise<TestResponse> =>
  server.request('POST', `/v1/applications/${application}/experiments/plan`, { body });
async function plan(application: string, body: object): Promise<ExperimentPlan> {
  const response = await request(application, body);
  expectStatus(response, 200);
  return response.body as ExperimentPlan;
}
const RELATIVE = { type: 'relative', value: 0.05 };

/** The number of units by hand; see planning.test.ts. The quantiles are those of the error rate and of the power. */
const computeAt = (z: number, variance: number, effect: number, power = 0.841_621) =>
  Math.max(10, Math.ceil(((z + power) ** 2 * variance * (Math.PI / 3)) / effect ** 2 + z ** 2 / 2));
/** Up to 20 inputs at 5 %, more at 4 %. */
const computeNeeded = (variance: number, effect: number) => {
  const few = computeAt(1.959_964, variance, effect);
  return few <= 20 ? few : computeAt(2.053_749, variance, effect);
};
/** A switchback test makes up for the verdicts that its test of the carry-over withholds: a power of 0.8 / 0.99. */
const computeNeededUnits = (deviation: number) =>
  computeAt(2.053_749, 4 * deviation ** 2, Math.log(1.05), 0.870_846);

describe('a plan from assumptions', () => {
  beforeAll(() => createExperimentApplication(server, 'assumed', { one: {} }));

  test('has the inputs for 1, 2, 3, 5 and 10 repetitions', async () => {
    const found = await plan('assumed', { difference: RELATIVE, between_inputs: 0.04, within_input: 0.1 });
    const effect = Math.log(1.05);
    const plans = [1, 2, 3, 5, 10].map((repetitions) => {
      const inputs = computeNeeded(0.0016 + 0.02 / repetitions, effect);
      return { repetitions, inputs, runs: 2 * inputs * repetitions };
    });
    expect(found).toEqual({
      experiment_id: null,
      experiment_type: null,
      indicator: null,
      compared: null,
      unit: 'input',
      measure: 'relative',
      difference: RELATIVE,
      power: 0.8,
      comparisons: 1,
      error_rate: 0.04,
      between_inputs: 0.04,
      within_input: 0.1,
      between_units: null,
      observed: null,
      plans,
      units: null,
      detectable_difference: null,
      sentences: [
        `To find a difference of 5\u00a0% in 80\u00a0% of experiments, run ${plans[0]?.inputs} inputs once on each side, or ${plans[4]?.inputs} inputs with 10 repetitions.`,
      ],
    });
  });

  test('has the smallest difference that given inputs and repetitions find', async () => {
    const body = { difference: RELATIVE, within_input: 0.1, inputs: 40, repetitions: 2 };
    const found = await plan('assumed', body);
    // 2.895370 × √(0.01 / ((40 - 2.108942) × 3 / π)) = 0.048134 on the scale of logarithms.
    expect(found.detectable_difference).toBeCloseTo(Math.expm1(0.048_134), 5);
    expect(found.sentences).toContain(
      'A plan of 40 inputs with 2 repetitions finds differences from 4.9\u00a0% on in 80\u00a0% of experiments.',
    );
    const few = await plan('assumed', { ...body, inputs: 9 });
    expect(few.detectable_difference).toBeNull();
    expect(few.sentences).toContain(
      'A plan of 9 inputs with 2 repetitions cannot give a verdict: it needs at least 10 that count as independent.',
    );
  });

  test('for many comparisons has as many inputs as the exact test needs to reject', async () => {
    // Up to 20 inputs, 100 comparisons leave an error rate of 0.0005 for each: 2 / 2^12 is below it, and 2 / 2^11 is not.
    const body = { difference: RELATIVE, between_inputs: 0, comparisons: 100, inputs: 11 };
    const found = await plan('assumed', body);
    expect(found.plans[0]?.inputs).toBe(12);
    expect(found.sentences[1]).toBe(
      'A plan of 11 inputs cannot give a verdict: it needs at least 12 that count as independent.',
    );
  });

  test('divides the error rate among the comparisons', async () => {
    const found = await plan('assumed', { difference: RELATIVE, within_input: 0.1, comparisons: 10 });
    expect(found.error_rate).toBeCloseTo(0.004, 12);
    expect(found.plans[0]?.inputs).toBe(computeAt(2.878_162, 0.02, Math.log(1.05)));
    expect(found.sentences.at(-1)).toBe(
      '10 comparisons share the error rate of 5\u00a0% up to 20 inputs, and of 4\u00a0% above, so each has 0.5\u00a0% or 0.4\u00a0%.',
    );
  });

  test.each([
    ['inputs', { between_inputs: 0.05, inputs: 15 }, 0.025, '5\u00a0%, so each has 2.5\u00a0%'],
    ['inputs', { between_inputs: 0.1, inputs: 40 }, 0.02, '4\u00a0%, so each has 2\u00a0%'],
    ['units', { between_units: 0.001, units: 20 }, 0.025, '5\u00a0%, so each has 2.5\u00a0%'],
    ['units', { between_units: 0.1, units: 100 }, 0.02, '4\u00a0%, so each has 2\u00a0%'],
  ])('T8: shares the error rate of that number of %s: %j', async (_unit, size, rate, text) => {
    const found = await plan('assumed', { difference: RELATIVE, comparisons: 2, ...size });
    expect(found.error_rate).toBe(rate);
    expect(found.sentences.at(-1)).toBe(`2 comparisons share the error rate of ${text}.`);
  });

  test('takes an absolute difference in the unit of the indicator', async () => {
    const found = await plan('assumed', {
      difference: { type: 'absolute', value: 3 },
      between_inputs: 4,
      power: 0.5,
    });
    // The quantile of a power of one half is 0: 2.053749² × 16 / 9 × π / 3 + 2.108942 = 9.96.
    expect(found).toMatchObject({ measure: 'absolute', power: 0.5 });
    expect(found.plans[0]?.inputs).toBe(10);
  });

  test('plans the units of a switchback test in the default design', async () => {
    const found = await plan('assumed', { difference: RELATIVE, between_units: 0.05, units: 100 });
    // Of two blocks of a pair the first one begins with a switch half of the time, the second one always: 5 of 8 units count.
    const counted = computeNeededUnits(0.05);
    expect(found).toMatchObject({ unit: 'unit', plans: [] });
    expect(found.units).toBeGreaterThan(counted / 0.66);
    expect(found.units).toBeLessThan(counted / 0.59);
    expect(found.detectable_difference).toBeLessThan(0.05);
  });

  test.each([
    // One coin for each block of four units and for the last two: 1 / 2^5 is at most 0.04, and 1 / 2^9 is at most 0.002.
    [1, 18],
    [20, 34],
  ])(
    'for %i comparisons plans as many units as the randomisation test needs to reject',
    async (comparisons, least) => {
      const body = { difference: { type: 'relative', value: 0.5 }, between_units: 0.001, comparisons };
      const found = await plan('assumed', { ...body, units: least - 1 });
      expect(found).toMatchObject({ units: least, detectable_difference: null });
      expect(found.sentences[1]).toBe(
        `A plan of ${least - 1} units cannot give a verdict: with the design blocked and carry_over_units 1 it needs at least ${least} units.`,
      );
      expect((await plan('assumed', { ...body, units: least })).detectable_difference).toBeGreaterThan(0);
    },
  );

  test('proposes a switchback test that its creation accepts', async () => {
    const body = { difference: { type: 'relative', value: 0.5 }, between_units: 0.001 };
    const { units } = await plan('assumed', body);
    const create = (count: number) =>
      server.request('POST', '/v1/applications/assumed/experiments/switchback', {
        body: {
          id: `units-${count}`,
          name: 'Planned units',
          comparison: { baseline_instance_id: 'latest', candidate_instance_id: 'one' },
          generate_random_plan: { unit_duration_minutes: 60, units: count, design: 'blocked' },
        },
      });
    expectStatus(await create(units ?? 0), 201);
    expectError(await create((units ?? 0) - 1), 400, `a verdict needs at least ${units} units`);
  });

  test.each(['relative', 'absolute'])('names a %s difference of 1e100 by a finite number', async (type) => {
    const body = { difference: { type, value: 1e100 }, between_inputs: 1, inputs: 20 };
    const { sentences } = await plan('assumed', body);
    expect(sentences[0]).toContain(type === 'relative' ? 'of 1e+102\u00a0%' : 'of 1e+100');
    expect(sentences.join(' ')).not.toContain('Infinity');
    expect(Math.max(...sentences.map((text) => text.length))).toBeLessThan(300);
  });

  test.each([
    [{ difference: { type: 'relative', value: 0 }, within_input: 1 }, 'difference.value is 0'],
    [
      { difference: { type: 'relative', value: 5e-324 }, between_inputs: 5e-324 },
      'difference.value is 5e-324',
    ],
    [{ difference: { type: 'absolute', value: 1e308 }, between_inputs: 1 }, 'difference.value is 1e+308'],
    [{ difference: RELATIVE, between_inputs: 1e308, inputs: 12 }, 'between_inputs is 1e+308'],
    [
      { difference: RELATIVE, between_inputs: 1e100, inputs: 12 },
      'difference.value is 0.05, and between_inputs is 1e+100: a plan would have more than 1,000,000 inputs. Give a larger difference',
    ],
    [{ difference: RELATIVE, between_units: 1e100 }, 'more than 1,000,000 units'],
    [
      { difference: { type: 'relative', value: 1e100 }, between_inputs: 2000, inputs: 12 },
      'between_inputs is 2000: the smallest difference that a plan of this size finds is above the largest number',
    ],
    [{ difference: RELATIVE }, 'experiment_id is missing'],
    [{ difference: RELATIVE, within_input: 1, between_units: 1 }, 'between_units is 1'],
    [{ difference: RELATIVE, within_input: 1, units: 5 }, 'units is 5'],
    [{ difference: RELATIVE, between_units: 1, inputs: 5 }, 'inputs is 5'],
    [{ difference: RELATIVE, within_input: 1, units: 5, inputs: 5 }, 'units is 5'],
    [{ difference: RELATIVE, within_input: 1, repetitions: 5 }, 'repetitions is 5 without inputs'],
    [{ difference: RELATIVE, experiment_id: 'none' }, 'experiment_id is "none"'],
    [{ difference: RELATIVE, experiment_id: 'x', within_input: 1 }, 'within_input is 1'],
    [{ difference: RELATIVE, within_input: 1, power: 0.4 }, 'power'],
  ])('%j is a 400', async (body, text) => {
    expectError(await request('assumed', body), 400, text);
  });

  test('is a 404 for another account, leaves no audit entry, and is allowed to a viewer', async () => {
    const body = { difference: RELATIVE, within_input: 0.1 };
    const path = '/v1/applications/assumed/experiments/plan';
    const other = await createOtherAccount(server);
    expectError(await server.request('POST', path, { body, token: other.token }), 404);
    const { token } = await server.createKey('viewer');
    expectStatus(await server.request('POST', path, { body, token }), 200);
    const { body: audit } = await server.client.call('listAuditEntries', {});
    expect(JSON.stringify(audit)).not.toContain('planExperiment');
  });
});

/** Spread of the changes of inputs, with the factor of its upper 80 % limit: 7 / chi2.ppf(0.2, 7) of scipy. */
function computeSpread(effects: readonly number[]): { variance: number; limit: number } {
  const centre = effects.reduce((total, value) => total + value / effects.length, 0);
  const variance = effects.reduce((total, value) => total + (value - centre) ** 2 / (effects.length - 1), 0);
  return { variance, limit: 1.831_347_586_339_471 * variance };
}
const LIMIT_TEXT =
  'The plan takes the upper 80\u00a0% confidence limit of its variance, 1.8 times the estimate.';

describe('a plan from a batch experiment', () => {
  const SIZES = [1, 2, 3, 4, 5, 6, 7, 8];
  beforeAll(async () => {
    await createExperimentApplication(
      server,
      'batched',
      { plain: {}, plus: { shift: '1' }, double: { factor: '2' }, zero: { factor: '0' } },
      SIZES.map((size) => ({ size })),
    );
    for (const [id, instance_ids, repetitions] of [
      ['once', ['plain', 'plus'], 1],
      ['twice', ['plain', 'plus'], 2],
      ['doubled', ['plain', 'double'], 1],
      ['alone', ['plain'], 2],
      ['several', ['plain', 'plus', 'double'], 1],
      ['from-zero', ['zero', 'plain'], 1],
    ] as const) {
      await createBatchExperiment(server, 'batched', {
        id,
        input_set_id: 'sizes',
        instance_ids,
        repetitions,
      });
      await waitForBatchEnd(server, 'batched', id);
    }
  });
  // Inputs of the sizes 1 to 8, to which the candidate adds 1.
  const { variance, limit } = computeSpread(SIZES.map((size) => Math.log((size + 1) / size)));

  test('has the spread of its runs, and the inputs that it asks for', async () => {
    const found = await plan('batched', {
      experiment_id: 'twice',
      difference: { type: 'relative', value: 0.2 },
    });
    expect(found).toMatchObject({
      experiment_id: 'twice',
      experiment_type: 'batch',
      indicator: 'result.value',
      unit: 'input',
      measure: 'relative',
      observed: { units: 8, differing: 8, pairs: 16, design_effect: 1 },
      within_input: 0,
    });
    expect(found.between_inputs).toBeCloseTo(Math.sqrt(variance), 10);
    const inputs = computeNeeded(limit, Math.log(1.2));
    expect(found.plans.map((one) => one.inputs)).toEqual(new Array(5).fill(inputs));
    expect(found.sentences).toEqual([
      `To find a difference of 20\u00a0% in 80\u00a0% of experiments, run ${inputs} inputs once on each side.`,
      'The effect varies between inputs (100\u00a0% of the variance of one input), so repetitions save few inputs.',
      `The spread comes from 8 inputs of plus against plain. ${LIMIT_TEXT}`,
    ]);
  });

  test('D5: asks for one of several candidates, and takes the spread of that one', async () => {
    const body = { experiment_id: 'several', difference: RELATIVE };
    expectError(await request('batched', body), 400, 'candidate is missing', '"plus", "double"', '"*"');
    expectError(await request('batched', { ...body, candidate: 'plain' }), 400, '"plus", "double"');
    const found = await plan('batched', { ...body, candidate: 'plus' });
    expect(found.compared).toEqual({ control: 'plain', candidates: ['plus'] });
    expect(found.between_inputs).toBeCloseTo(Math.sqrt(variance), 10);
    const all = await plan('batched', { ...body, candidate: '*' });
    expect(all.compared?.candidates).toEqual(['plus', 'double']);
  });

  test('says that one pair for each input hides the noise of runs', async () => {
    const found = await plan('batched', { experiment_id: 'once', difference: RELATIVE });
    expect(found.within_input).toBeNull();
    expect(found.between_inputs).toBeCloseTo(Math.sqrt(variance), 10);
    expect(found.sentences[1]).toMatch(/^Every input has one pair of runs/);
  });

  test('plans an absolute difference from absolute differences, and another indicator', async () => {
    const found = await plan('batched', {
      experiment_id: 'doubled',
      indicator: '$.result.custom.twice',
      difference: { type: 'absolute', value: 5 },
    });
    // The candidate adds 2 to 16.
    const spread = computeSpread(SIZES.map((size) => 2 * size));
    expect(found).toMatchObject({
      indicator: 'result.custom.twice',
      measure: 'absolute',
      within_input: null,
    });
    expect(found.between_inputs).toBeCloseTo(Math.sqrt(spread.variance), 10);
    expect(found.plans[0]?.inputs).toBe(computeNeeded(spread.limit, 5));
  });

  test.each([
    [{ experiment_id: 'once', indicator: 'missing' }, 'no spread of the indicator "missing"'],
    [{ experiment_id: 'once', experiment_type: 'shadow' }, 'it must be a shadow experiment'],
    [{ experiment_id: 'once', units: 20 }, 'units is 20'],
    [{ experiment_id: 'from-zero' }, 'the mean of the control is 0'],
    // The candidate adds 1 to each, and doubles each.
    [
      { experiment_id: 'twice', difference: { type: 'absolute', value: 1 } },
      'All 8 inputs differ by the same amount',
    ],
    [{ experiment_id: 'doubled' }, 'All 8 inputs differ by the same amount'],
    [{ experiment_id: 'alone' }, 'None of 8 inputs differs.'],
  ])('%j is a 400', async (body, text) => {
    expectError(await request('batched', { difference: RELATIVE, ...body }), 400, text);
  });
});

describe('a plan from an online test', () => {
  beforeAll(() => createOnlineTestApp(server, 'online'));
  const submit = (cost: number) => createRun(server, 'online', { instance: 'baseline', input: { cost } });

  test('has the spread of the originals of a shadow test, and counts copies', async () => {
    const shadow = shadowCalls(() => server, 'online');
    const costs = [100, 400, 120, 300, 110, 350, 130, 250];
    await shadow.startTest({ id: 'shadow', termination_events: { maximum_runs: costs.length } });
    for (const cost of costs) {
      clock.advance(1);
      await waitForRunEnd(server, 'online', await submit(cost));
    }
    await shadow.waitForStatus('shadow', 'completed');
    const found = await plan('online', { experiment_id: 'shadow', difference: RELATIVE });
    const { variance, limit } = computeSpread(costs.map((cost) => Math.log((cost - 10) / cost)));
    expect(found).toMatchObject({ unit: 'original', experiment_type: 'shadow' });
    expect(found.between_inputs).toBeCloseTo(Math.sqrt(variance), 10);
    const inputs = computeAt(2.053_749, limit, Math.log(1.05));
    expect(found.plans).toEqual([{ repetitions: 1, inputs, runs: inputs }]);
    expectError(
      await request('online', { experiment_id: 'shadow', difference: RELATIVE, inputs: 20, repetitions: 2 }),
      400,
      'copies each original once',
    );
  });

  test('has the spread of the units of a switchback test', async () => {
    const switchback = onlineTestCalls(() => server, 'switchback', 'online');
    const plan_ = { unit_duration_minutes: 1, units: 16 };
    const draft = {
      id: 'turns',
      name: 'Taking turns',
      comparison: { baseline_instance_id: 'baseline', candidate_instance_id: 'candidate' },
      generate_random_plan: plan_,
    };
    expectStatus(await switchback.create(draft), 201);
    expectError(
      await request('online', { experiment_id: 'turns', difference: RELATIVE }),
      400,
      'two counted units of each side',
    );
    expectStatus(await switchback.start('turns'), 204);
    for (let unit = 0; unit < plan_.units; unit += 1) {
      await waitForRunEnd(server, 'online', await submit(100 + 7 * ((unit * 5) % 16)));
      clock.advance(MINUTE_MS);
    }
    await switchback.waitForStatus('turns', 'completed');
    const found = await plan('online', { experiment_id: 'turns', difference: RELATIVE, units: 100 });
    expect(found).toMatchObject({ unit: 'unit', experiment_type: 'switchback', plans: [] });
    const { between_units, observed } = found;
    const counted = computeNeededUnits((between_units ?? 0) * Math.sqrt(observed?.variance_factor ?? 0));
    expect(found.units).toBe(Math.ceil(counted * (observed?.design_effect ?? 0)));
    expect(found.sentences).toContainEqual(expect.stringMatching(/upper 80\u00a0% confidence limit/));
  });
});
