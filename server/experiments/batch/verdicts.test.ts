/**
 * Verdicts of batch experiments on unkind data, through HTTP. The server executes no run: each test chooses the outcomes. The
 * expected numbers are arithmetic, from the definition of the signed-rank test and of the geometric mean.
 */
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import type { InputSetId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAcceptanceApp, createInputSet } from '../../testing/fixtures/acceptance-tests.ts';
import { createBatchExperiment, waitForBatchEnd } from '../../testing/fixtures/batch-experiments.ts';
import {
  type ChosenOutcome,
  type ChosenRun,
  endRuns,
  WITHOUT_EXECUTION,
} from '../../testing/fixtures/chosen-outcomes.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

let server: TestServer;
let application: string;
/** An input set of twenty inputs, and the place of each input in it. */
let set: string;
const places = new Map<string, number>();
beforeAll(async () => {
  server = await startTestServer({ env: WITHOUT_EXECUTION });
  application = await createAcceptanceApp(server);
  set = await createInputSet(
    server,
    application,
    Array.from({ length: 20 }, (_, size) => ({ control: size })),
  );
  const { body } = await server.client.call('getInputSet', {
    params: { application_id: application, input_set_id: set as InputSetId },
  });
  for (const [place, id] of body.input_ids.entries()) places.set(id, place);
});
afterAll(() => server.close());

const MINIMIZE = { objectives: { 'result.value': 'minimize' } };

/** Creates a batch of both instances on the first `count` inputs of the set, and ends its runs with the outcomes. */
async function runBatch(
  choose: (run: ChosenRun, place: number) => ChosenOutcome,
  body: object = MINIMIZE,
  count = 20,
): Promise<BatchExperiment> {
  const runs = ['control', 'candidate'].flatMap((instance_id) =>
    [...places.keys()].slice(0, count).map((input_id) => ({ instance_id, input_id })),
  );
  const created = await createBatchExperiment(server, application, {
    input_set_id: set,
    ...(count === 20 ? { instance_ids: ['control', 'candidate'] } : { runs }),
    ...body,
  });
  await endRuns(server, created.id, (run) => choose(run, places.get(run.input_id) ?? 0));
  return waitForBatchEnd(server, application, created.id);
}

/** Returns the outcome of the value of the run's side. */
const report = (run: ChosenRun, control: number, candidate: number): ChosenOutcome => ({
  indicators: { 'result.value': run.instance_id === 'control' ? control : candidate },
});

function findComparison({ comparisons }: BatchExperiment, indicator = 'result.value'): Comparison {
  expect(comparisons).toHaveLength(1);
  const found = comparisons[0]?.indicators.find((one) => one.indicator === indicator);
  if (!found) throw new Error(`The batch does not compare ${indicator}.`);
  return found;
}

describe('D3: a candidate that fails', () => {
  test('on half of the inputs is not better, however good the others are', async () => {
    const batch = await runBatch((run, place) =>
      run.instance_id === 'candidate' && place % 2 === 0 ? { status: 'failed' } : report(run, 100, 97),
    );
    const comparison = findComparison(batch);
    expect(comparison).toMatchObject({
      verdict: 'undecided',
      inputs: { total: 20, usable: 20, wins: 10, ties: 0, losses: 10 },
      failures: { candidate_only: 10, control_only: 0, candidate_failed: 10, control_failed: 0 },
    });
    // Ten failures, ranks 11 to 20, against ten wins that share rank 5.5.
    expect(comparison.wilcoxon).toMatchObject({ n: 20, w_plus: 155, w_minus: 55 });
    // McNemar: ten coins that all show heads.
    expect(comparison.failures?.p_value).toBeCloseTo(2 / 2 ** 10, 12);
  });

  test('on 11 of 12 inputs is worse, not equivalent', async () => {
    const batch = await runBatch(
      (run, place) =>
        run.instance_id === 'candidate' && place < 11 ? { status: 'failed' } : report(run, 100, 100),
      MINIMIZE,
      12,
    );
    expect(findComparison(batch)).toMatchObject({ verdict: 'worse', inputs: { ties: 1, losses: 11 } });
  });
});

test('a value for failed runs gives penalised means, PAR10, and no other verdict', async () => {
  const choose = (run: ChosenRun, place: number): ChosenOutcome =>
    run.instance_id === 'candidate' && place < 2 ? { status: 'failed' } : report(run, 10, 9);
  const batch = await runBatch(choose, {
    objectives: { 'result.value': { direction: 'minimize', failure_value: 600 } },
  });
  expect(batch.objectives?.['result.value']).toMatchObject({ failure_value: 600 });
  expect(findComparison(batch)).toMatchObject({
    verdict: 'undecided',
    // 18 inputs took 9 s, and two failed: (18 × 9 + 2 × 600) / 20.
    with_failures: { failure_value: 600, control_mean: 10, candidate_mean: 68.1 },
  });
});

describe('T1: without any difference', () => {
  test.each([
    [9, 'undecided'],
    [10, 'same'],
  ] as const)('%i inputs are %s', async (count, verdict) => {
    const batch = await runBatch((run) => report(run, 100, 100), MINIMIZE, count);
    const found = findComparison(batch);
    expect(found).toMatchObject({ verdict, inputs: { total: count, ties: count } });
    expect(found.geometric_mean_ratio).toEqual({ value: 1, interval: null });
    expect(found.mean_difference).toEqual({ value: 0, interval: null });
    expect(found.ratio).toEqual({ value: 1, interval: null });
    expect(found).toMatchObject({ detectable_difference: null, more_inputs: null });
    // 1 - 0.05^(1 / 10): with a larger share of inputs that differ, ten of them show none in less than 5 % of experiments.
    if (verdict === 'same')
      expect(found.reasons).toEqual([
        'All 10 inputs tie; up to 25.9\u00a0% of other inputs may differ, by any amount.',
      ]);
  });

  test('five differing inputs of twenty have no interval, and six have one', async () => {
    const change = (differing: number) =>
      runBatch((run, place) => report(run, 100, place < differing ? 100.1 + place / 100 : 100));
    const five = findComparison(await change(5));
    expect(five).toMatchObject({ verdict: 'undecided', detectable_difference: null, more_inputs: null });
    expect(five.geometric_mean_ratio?.interval).toBeNull();
    // Clopper and Pearson: scipy's beta.ppf(0.95, 6, 15) = 0.455582.
    expect(five.reasons[0]).toBe(
      'Only 5 of 20 inputs differ: an interval needs 6 that do, or `largest_loss`. Up to 45.6\u00a0% of other inputs may differ.',
    );
    const six = findComparison(await change(6));
    expect(six.geometric_mean_ratio?.interval).not.toBeNull();
    expect(six.detectable_difference).toBeGreaterThan(0);
  });

  const bounded = (largest_loss: number, margin = 0.01) => ({
    objectives: {
      'result.value': { direction: 'minimize', largest_loss, margin: { type: 'relative', value: margin } },
    },
  });

  test('a declared largest loss gives an interval of the bounded mean, and equivalence within the margin', async () => {
    const batch = await runBatch((run) => report(run, 100, 100), bounded(0.1, 0.03));
    expect(batch.objectives?.['result.value']).toMatchObject({ largest_loss: 0.1 });
    const found = findComparison(batch);
    // numpy 2.4.6, the hedged capital of 20 ties within ±ln 1.1: half of the width is 0.0206575, and exp of it 1.020872.
    expect(found.geometric_mean_ratio?.interval?.high).toBeCloseTo(1.020872, 5);
    expect(found.verdict).toBe('equivalent');
  });

  test('a largest loss that is too large for the margin leaves a tie, by at most that amount', async () => {
    const found = findComparison(await runBatch((run) => report(run, 100, 100), bounded(0.5)));
    expect(found).toMatchObject({
      verdict: 'same',
      reasons: ['All 20 inputs tie; up to 13.9\u00a0% of other inputs may differ, by at most 50\u00a0%.'],
    });
  });

  test('a larger change refuses the declared largest loss in a sentence', async () => {
    const batch = await runBatch((run, place) => report(run, 100, place === 3 ? 120 : 100), bounded(0.1));
    const found = findComparison(batch);
    expect(found.geometric_mean_ratio?.interval).toBeNull();
    expect(found.warnings.join(' ')).toMatch(
      /largest_loss is 10\u00a0% \(from −9.1\u00a0% to \+10\u00a0%\), and ".*" changed by more: the bound does not hold, so it is not used\./,
    );
  });
});

test('D7: the verdict uses the p-value that is corrected for every indicator', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `result.custom.k${index}`);
  // In k0 the candidate loses the three smallest differences of twelve: 14 of 4,096 signs have such a rank sum of at most 6,
  // so p = 28 / 4096 = 0.0068. In the others wins and losses alternate.
  const choose = (run: ChosenRun, place: number): ChosenOutcome => ({
    indicators: Object.fromEntries(
      names.map((name, index) => {
        const sign = index === 0 ? (place < 3 ? 1 : -1) : place % 2 === 0 ? 1 : -1;
        return [name, run.instance_id === 'control' ? 100 : 100 * Math.exp((sign * (place + 1)) / 100)];
      }),
    ),
  });
  const objectives = Object.fromEntries(names.map((name) => [name, 'minimize']));
  const plain = findComparison(await runBatch(choose, { objectives }, 12), 'result.custom.k0');
  expect(plain.wilcoxon.p_value).toBeCloseTo(28 / 4096, 12);
  expect(plain.wilcoxon.p_value_holm).toBeCloseTo(280 / 4096, 12);
  expect(plain).toMatchObject({ verdict: 'undecided', role: 'primary' });
  const named = await runBatch(choose, { objectives, primary: 'result.custom.k0' }, 12);
  const primary = findComparison(named, 'result.custom.k0');
  // The primary indicator has 0.8 of 0.85 of the error rate beside nine others.
  expect(primary.wilcoxon.p_value_holm).toBeCloseTo(((28 / 4096) * 0.85) / 0.8, 12);
  expect(primary).toMatchObject({ verdict: 'better', role: 'primary' });
});

test('an objective that no run reports has a warning', async () => {
  const objectives = { 'result.value': 'minimize', 'result.vlaue': 'minimize' };
  const { warnings } = await runBatch((run) => report(run, 100, 90), { objectives, primary: 'result.vlaue' });
  expect(warnings).toEqual([
    'No successful run has a number or a flag as result.vlaue, which objectives names: it has no verdict.',
  ]);
});

describe('T7: a value of 0', () => {
  const findWorse = (place: number) => 104 + place / 10;
  /** The mean over all twenty inputs, of which the first has this ratio. */
  const averageLogarithms = (ratio: number, shift: number): number =>
    [...places.values()].reduce(
      (sum, place) => sum + Math.log(place === 0 ? ratio : (findWorse(place) + shift) / (100 + shift)) / 20,
      0,
    );

  test('on both sides is a tie, and ratios stay ratios', async () => {
    const batch = await runBatch((run, place) =>
      place === 0 ? report(run, 0, 0) : report(run, 100, findWorse(place)),
    );
    const found = findComparison(batch);
    expect(found).toMatchObject({ measure: 'relative', verdict: 'worse', inputs: { ties: 1, losses: 19 } });
    expect(found.geometric_mean_ratio?.value).toBeCloseTo(Math.exp(averageLogarithms(1, 0)), 12);
    expect(found.warnings).toEqual([]);
  });

  test('on one side turns ratios into differences, and the warning names the input and `shift`', async () => {
    const compare = async (settings: object): Promise<Comparison> => {
      const choose = (run: ChosenRun, place: number) => report(run, place === 0 ? 0 : 100, findWorse(place));
      const objectives = { 'result.value': { direction: 'minimize', ...settings } };
      return findComparison(await runBatch(choose, { objectives }));
    };
    const found = await compare({});
    expect(found).toMatchObject({ measure: 'absolute', geometric_mean_ratio: null });
    expect(found.warnings[0]).toBe(
      `The control has the value 0 on "${[...places.keys()][0]}": ratios do not exist, so the comparison is by differences, which large inputs dominate. A \`shift\` in the objective makes ratios of all.`,
    );
    const shifted = await compare({ shift: 1 });
    expect(shifted).toMatchObject({ measure: 'relative', warnings: [] });
    const mean = averageLogarithms((findWorse(0) + 1) / (0 + 1), 1);
    expect(shifted.geometric_mean_ratio?.value).toBeCloseTo(Math.exp(mean), 12);
  });
});

test('T14: a candidate that is better on small inputs, and not in total, is better on the typical input', async () => {
  // Sixteen inputs of about 100 gain 3 %, and four of about 1,000 lose 1.2 %: together as much.
  const size = (place: number) => (place < 16 ? 100 + place : 1000 + 10 * place);
  const findChange = (place: number) => (place < 16 ? -0.03 : 0.012) + ((place % 4) - 1.5) / 1000;
  const batch = await runBatch((run, place) =>
    report(run, size(place), size(place) * (1 + findChange(place))),
  );
  const found = findComparison(batch);
  const sum = (value: (place: number) => number) =>
    [...places.values()].reduce((total, place) => total + value(place), 0);
  expect(found.verdict).toBe('better');
  expect(found.ratio?.value).toBeCloseTo(1 + sum((place) => size(place) * findChange(place)) / sum(size), 12);
  expect(found.reasons.join(' ')).toMatch(
    /The typical input is better; the total over all inputs may not be: .0\.0\d+\u00a0% \(95\u00a0% interval −[\d.]+\u00a0% to \+[\d.]+\u00a0%\)\./,
  );
  expect(batch.decision?.reason).toContain('on the typical input; the total may not be.');
});

describe('D9: sizes over four orders of magnitude', () => {
  test('do not hide a candidate that is 2 % better on all inputs but the largest', async () => {
    const size = (place: number) => 10 ** (place / 5);
    const findRatio = (place: number) => (place === 19 ? 1.01 : 0.98);
    const batch = await runBatch((run, place) => report(run, size(place), size(place) * findRatio(place)));
    const comparison = findComparison(batch);
    expect(comparison).toMatchObject({ verdict: 'better', measure: 'relative', value_type: 'number' });
    expect(comparison.geometric_mean_ratio?.value).toBeCloseTo((0.98 ** 19 * 1.01) ** (1 / 20), 9);
    const total = [...places.values()].reduce((sum, place) => sum + size(place) * (findRatio(place) - 1), 0);
    expect(comparison.mean_difference?.value).toBeCloseTo(total / 20, 9);
  });

  test('are compared by differences when the objective says so', async () => {
    const objectives = { 'result.value': { direction: 'minimize', measure: 'absolute' } };
    const batch = await runBatch((run, place) => report(run, 10 ** (place / 5), 10 ** (place / 5)), {
      objectives,
    });
    expect(findComparison(batch)).toMatchObject({ measure: 'absolute', geometric_mean_ratio: null });
  });
});

test('D11: eight wins, no loss and twelve ties are better', async () => {
  const batch = await runBatch((run, place) => report(run, 100, place < 8 ? 97 : 100));
  const comparison = findComparison(batch);
  expect(comparison).toMatchObject({ verdict: 'better', inputs: { wins: 8, ties: 12, losses: 0 } });
  expect(comparison.wilcoxon.p_value).toBeCloseTo(2 / 2 ** 8, 12);
});

test('D12: an indicator without an objective is higher, not worse', async () => {
  const batch = await runBatch((run) => report(run, 90, 95), {});
  expect(findComparison(batch)).toMatchObject({ verdict: 'higher', objective: 'none', role: 'other' });
});

describe('D14: settings of an objective', () => {
  const count = (settings: object) => ({
    objectives: { 'result.value': { direction: 'minimize', ...settings } },
  });
  test('an absolute margin makes rare counts equivalent', async () => {
    // R11: 14 of 20 inputs tie at no unplanned stop, and on the others one side has one. Fewer show no spread.
    const choose = (run: ChosenRun, place: number) =>
      place < 14 ? report(run, 0, 0) : report(run, place % 2, 1 - (place % 2));
    const margin = { type: 'absolute', value: 0.5 };
    expect(findComparison(await runBatch(choose, count({ margin })))).toMatchObject({
      verdict: 'equivalent',
      tolerance: margin,
    });
    expect(findComparison(await runBatch(choose, count({})))).toMatchObject({ verdict: 'undecided' });
  });

  test('a tie tolerance makes small differences ties', async () => {
    const margin = { type: 'relative', value: 0.05 };
    const batch = await runBatch((run) => report(run, 100, 97), count({ tie_tolerance: 0.05, margin }));
    expect(findComparison(batch)).toMatchObject({ tie_tolerance: 0.05, inputs: { wins: 0, ties: 20 } });
  });
});

describe('D16: a flag', () => {
  const objectives = { 'result.custom.optimal': 'maximize' };
  /** The control is optimal on 2 inputs, the candidate on 12. */
  const choose = (run: ChosenRun, place: number): ChosenOutcome => ({
    indicators: { 'result.custom.optimal': place < (run.instance_id === 'control' ? 2 : 12) },
  });

  test('is compared by the shares of true, without a distribution', async () => {
    const batch = await runBatch(choose, { objectives });
    const comparison = findComparison(batch, 'result.custom.optimal');
    expect(comparison).toMatchObject({
      value_type: 'flag',
      verdict: 'better',
      measure: 'absolute',
      inputs: { wins: 10, ties: 10, losses: 0 },
      mean_difference: { value: 0.5 },
      control: { mean: 0.1, missing: 0 },
      candidate: { mean: 0.6, missing: 0 },
    });
    // McNemar's exact test of 10 against 0.
    expect(comparison.wilcoxon.p_value).toBeCloseTo(2 / 2 ** 10, 12);
    for (const { indicator_keys } of batch.grouped_distributional_summaries)
      expect(indicator_keys).toEqual([]);
  });

  test('beside numbers is no measurement, nor is the text nan', async () => {
    const batch = await runBatch(
      (_run, place) => ({ indicators: { 'result.value': place === 0 ? true : place === 1 ? 'nan' : 5 } }),
      MINIMIZE,
    );
    expect(findComparison(batch)).toMatchObject({ value_type: 'number', control: { missing: 2, mean: 5 } });
  });
});

describe('D8: a time', () => {
  const objectives = { 'run.duration': 'minimize' };
  const start = (host: string, started_at: number) => ({ host, started_at, concurrent_runs: 2, load: 1 });

  test('has a verdict when both sides ran under the same conditions', async () => {
    const batch = await runBatch(
      (run) => ({
        indicators: { 'run.duration': run.instance_id === 'control' ? 10 : 9 },
        start: start('one', 1_800_000_000_000),
      }),
      { objectives },
    );
    expect(findComparison(batch, 'run.duration')).toMatchObject({ verdict: 'better' });
    expect(batch.runs[0]?.start_conditions).toEqual({ host: 'one', concurrent_runs: 2, load: 1 });
  });

  test('has no verdict when the sides ran on different hosts', async () => {
    const batch = await runBatch(
      (run) => ({
        indicators: {
          'run.duration': run.instance_id === 'control' ? 10 : 9,
          'result.value': run.instance_id === 'control' ? 10 : 9,
        },
        start: start(run.instance_id, 1_800_000_000_000),
      }),
      { objectives: { ...objectives, 'result.value': 'minimize' } },
    );
    expect(findComparison(batch, 'run.duration')).toMatchObject({
      verdict: 'undecided',
      reasons: ['The two sides ran on different hosts, so times are not comparable.'],
    });
    expect(findComparison(batch, 'result.value')).toMatchObject({ verdict: 'better' });
  });
});

test('repetitions that are all identical are warned about', async () => {
  const batch = await runBatch((run) => report(run, 100, 97), { ...MINIMIZE, repetitions: 2 });
  expect(findComparison(batch).warnings).toContain(
    'All repetitions of every input have the same difference: the app is deterministic, and repetitions add nothing.',
  );
});
