/** T1: rules of acceptance tests where all inputs tie, or most of them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createAcceptanceApp,
  createAcceptanceTest,
  createBatchForTest,
  MEAN_METRIC,
  requestAcceptanceTest,
  waitForDecision,
} from '../../testing/fixtures/acceptance-tests.ts';
import { waitForBatchEnd } from '../../testing/fixtures/batch-experiments.ts';
import { expectError } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const INPUTS = 12;
const TIE = 'All 12 inputs tie; up to 22.1\u00a0% of other inputs may differ, by any amount.';

let server: TestServer;
let application: string;
/** Batches of twelve inputs: all tie, and one differs. */
const batches = { tied: '', one: '' };
beforeAll(async () => {
  server = await startTestServer();
  application = await createAcceptanceApp(server);
  const build = (change: number) =>
    Array.from({ length: INPUTS }, (_, index) => ({
      control: 100 + index,
      candidate: 100 + index + (index === 0 ? change : 0),
    }));
  batches.tied = await createBatchForTest(server, application, build(0));
  batches.one = await createBatchForTest(server, application, build(1));
  for (const batch of Object.values(batches)) await waitForBatchEnd(server, application, batch);
});
afterAll(() => server.close());

const within = (value: number, operator = 'le') => ({
  params: { operator, tolerance: { type: 'relative', value } },
});
const nonInferior = { hypothesis: 'non-inferiority', ...within(0.05) };

/** The question of an earlier batch on these inputs is a cause too. */
const BY_RULE = expect.arrayContaining([expect.objectContaining({ rule: 0 })]);

/** Decides a test with one rule on the batch. */
async function decide(batch: string, changes: object) {
  const metrics = [{ ...MEAN_METRIC, ...changes }];
  const created = await createAcceptanceTest(server, application, { experiment_id: batch, metrics });
  const { results, metrics: stored, decision } = await waitForDecision(server, application, created.id);
  return { passed: results?.passed, rule: results?.metric_results?.[0], stored: stored[0], decision };
}

describe('T1: a rule on inputs that all tie', () => {
  test.each([
    ['the means', {}, false],
    ['the means, accepted', { accept_same: true }, true],
    ['means that must be below', { ...within(0, 'lt'), accept_same: true }, false],
    ['the 95th percentile', { statistic: 'p95' }, false],
    ['the 95th percentile, accepted', { statistic: 'p95', accept_same: true }, true],
    ['equality, which asks for a tie', within(0, 'eq'), true],
    ['the number of runs', { statistic: 'count' }, true],
    [
      'one side alone',
      {
        metric_type: 'absolute-threshold',
        params: { operator: 'le', tolerance: { type: 'absolute', value: 1e6 } },
      },
      true,
    ],
    ['non-inferiority', nonInferior, false],
    ['non-inferiority, accepted', { ...nonInferior, accept_same: true }, true],
    [
      'non-inferiority, where more is better',
      { ...nonInferior, ...within(0.05, 'ge'), accept_same: true },
      true,
    ],
    ['superiority', { ...nonInferior, ...within(0, 'lt'), accept_same: true }, false],
    ['non-inferiority with a largest loss', { ...nonInferior, largest_loss: 0.1 }, true],
  ])('about %s: passed is %s', async (_, changes, passed) => {
    expect((await decide(batches.tied, changes)).passed).toBe(passed);
  });

  test('says why it is not met, and how to accept a tie', async () => {
    const { rule, decision } = await decide(batches.tied, {});
    expect(rule).toMatchObject({ passed: false, tied: true, comparison: { verdict: 'same' }, warnings: [] });
    expect(decision).toMatchObject({ release: 'undecided', because_of: BY_RULE });
    expect(rule?.reason).toContain(`${TIE} Add \`accept_same: true\` to the rule to accept a tie.`);
  });

  test('that accepts a tie shows it, and says what it does not know', async () => {
    const { rule, stored } = await decide(batches.tied, { ...nonInferior, accept_same: true });
    expect(stored).toMatchObject({ accept_same: true });
    expect(rule).not.toHaveProperty('tied');
    expect(rule?.reason).toBe(`${TIE} The rule accepts a tie.`);
    expect(rule?.non_inferiority).toMatchObject({ effect: 1, bound: null, within_tolerance: false });
  });

  test('has the bound of a bounded mean with a declared largest loss', async () => {
    const { rule, stored } = await decide(batches.tied, { ...nonInferior, largest_loss: 0.1 });
    expect(stored).toMatchObject({ largest_loss: 0.1 });
    // numpy 2.4.6, the hedged capital of 12 ties within ±ln 1.1 at 90 %.
    expect(rule?.non_inferiority?.bound).toBeCloseTo(1.027117, 5);
  });
});

test('T1: a tie where the rule asks for less is no, and accepting a tie is no advice', async () => {
  const { rule, decision } = await decide(batches.tied, within(0, 'lt'));
  expect(rule).not.toHaveProperty('tied');
  expect(rule?.reason).not.toContain('accept_same');
  expect(decision?.release).toBe('no');
});

test('a field that no run reported leaves the test undecided', async () => {
  const { decision } = await decide(batches.tied, { field: 'misspelt' });
  expect(decision).toMatchObject({ release: 'undecided', because_of: BY_RULE });
  expect(decision?.reason).toContain('No run reported misspelt. ');
});

test('T1: one differing input of twelve has no bound, and no tie to accept', async () => {
  const { rule } = await decide(batches.one, { ...nonInferior, accept_same: true });
  expect(rule).toMatchObject({ passed: false, comparison: { verdict: 'undecided' } });
  // Clopper and Pearson: scipy's beta.ppf(0.95, 2, 11) = 0.338686.
  expect(rule?.reason).toContain(
    'Only 1 of 12 inputs differs: an interval needs 6 that do, or `largest_loss`. Up to 33.9\u00a0% of other inputs may differ.',
  );
});

test.each([0, -1, 1e308])('T1: a largest loss of %d is refused', async (largest_loss) => {
  const metrics = [{ ...MEAN_METRIC, ...nonInferior, largest_loss }];
  expectError(
    await requestAcceptanceTest(server, application, { experiment_id: batches.tied, metrics }),
    400,
    `metrics.0.largest_loss is ${largest_loss}`,
  );
});
