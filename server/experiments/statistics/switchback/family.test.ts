/** Comparisons of switchback tests: what a run counts for, and what withholds a verdict. */
import { describe, expect, test } from 'vitest';
import { INDICATOR } from '../../../testing/fixtures/paired-runs.ts';
import type { FamilyIndicator } from '../paired/family.ts';
import type { DesignKind } from './design.ts';
import { compareSwitchbackFamily, type SwitchbackComparison, type SwitchbackFamily } from './family.ts';
import type { PlanUnit, SwitchbackRun } from './unit-outcomes.ts';

type RunSpec = Partial<SwitchbackRun> & { value?: number };

function createRun({ value, ...fields }: RunSpec): SwitchbackRun {
  return {
    instance_id: 'any',
    version_id: 'v1',
    input_id: 'i',
    option_set: null,
    scenario_id: null,
    repetition: null,
    status: 'succeeded',
    indicators: value === undefined ? [] : [{ name: 'result.value', value }],
    ...fields,
  };
}

/** Builds units from letters: c for the candidate. */
function createPlan(
  letters: string,
  listRuns: (index: number, isCandidate: boolean) => RunSpec[],
): PlanUnit[] {
  return [...letters].map((letter, index) => {
    const isCandidate = letter === 'c';
    return { index, isCandidate, runs: listRuns(index, isCandidate).map(createRun) };
  });
}

interface Options {
  kind?: DesignKind;
  carryOverUnits?: number;
  overrides?: Partial<SwitchbackFamily>;
  indicator?: Partial<FamilyIndicator>;
}

function compare(
  plan: PlanUnit[],
  { kind = 'blocked', carryOverUnits = 1, overrides, indicator }: Options = {},
): SwitchbackComparison {
  const [comparison] = compareSwitchbackFamily(
    {
      plan,
      design: { kind, carryOverUnits, units: plan.length, unitMinutes: 60 },
      burnInMinutes: 0,
      control_instance_id: 'control',
      candidate_instance_id: 'candidate',
      progress: 'complete',
      seed: 'seed',
      ...overrides,
    },
    [{ ...INDICATOR, ...indicator }],
  );
  if (!comparison) throw new Error('The family has no comparison.');
  return comparison;
}

const DAY = 'bbccccbbbbccbbccccbbccbb';
const NOISE = [3, -1, 2, 0, -3, 1, -2, 2, 0, -1, 3, -3, 1, 0, -2, 3, -1, 2, -3, 0, 1, -2, 3, -1];
const computeCost = (index: number, isCandidate: boolean) =>
  100 + (NOISE[index] ?? 0) - (isCandidate ? 20 : 0);
const REPETITIONS = Array.from({ length: 100 }, (_, index) => index);

describe('a candidate that saves 20 % in every unit', () => {
  test('is better', () => {
    const comparison = compare(createPlan(DAY, (index, own) => [{ value: computeCost(index, own) }]));
    expect(comparison).toMatchObject({
      verdict: 'better',
      interim: false,
      measure: 'relative',
      randomization: { assignments: 64, coins: 6, method: 'exact' },
    });
    // Of all 64 plans of six coins, only the mirrored one can be as extreme.
    expect(comparison.randomization.p_value).toBeLessThanOrEqual(2 / 64);
    expect(comparison.geometric_mean_ratio?.value).toBeCloseTo(0.8, 1);
  });

  test('is higher or lower without a direction, and worse where more is better', () => {
    const plan = createPlan(DAY, (index, own) => [{ value: computeCost(index, own) }]);
    expect(compare(plan, { indicator: { direction: 'none' } }).verdict).toBe('lower');
    expect(compare(plan, { indicator: { direction: 'maximize' } }).verdict).toBe('worse');
  });

  test.each([
    // 12 units of the candidate with 100 runs each: 12 of 1,200 are 1 %.
    [12, 'better'],
    [13, 'undecided'],
  ])('D1: and refuses %i of 1,200 runs is %s', (refused, verdict) => {
    let left = refused;
    const plan = createPlan(DAY, (index, own) =>
      REPETITIONS.map(() => {
        const isRefused = own && left > 0;
        if (isRefused) left -= 1;
        return { value: computeCost(index, own), candidate_refused: isRefused };
      }),
    );
    const comparison = compare(plan);
    expect(comparison.verdict).toBe(verdict);
    expect(comparison.candidate.refused).toBe(refused);
    expect(comparison.warnings).toContainEqual(expect.stringContaining(`refused ${refused} runs`));
    expect(comparison.more_units).toBeNull();
  });

  test.each([
    ['reports no value in one run of ten', {}],
    ['is canceled in one run of ten', { status: 'canceled' }],
  ])('D1: and %s is not better', (_, lost: RunSpec) => {
    const plan = createPlan(DAY, (index, own) => [
      own ? lost : { value: 200 },
      ...Array.from({ length: 9 }, () => ({ value: computeCost(index, own) })),
    ]);
    const comparison = compare(plan);
    expect(comparison.verdict).toBe('undecided');
    expect(comparison.reasons.at(-1)).toMatch(
      /^10 % of the runs in the candidate's units ended without a value, and 0 % of those in the control's\./,
    );
  });

  test('has ratios of shifted values where the objective has a shift', () => {
    const plan = createPlan(DAY, (_index, own) => [{ value: own ? 1 : 0 }]);
    const comparison = compare(plan, { indicator: { shift: 10 } });
    expect(comparison).toMatchObject({ measure: 'relative', verdict: 'worse' });
    expect(comparison.geometric_mean_ratio?.value).toBeCloseTo(1.1, 12);
  });

  test.each([
    ['no run', 0, null, 'better'],
    ['a fifth of its runs', 20, null, 'undecided'],
    ['a fifth of its runs, within a margin of 30 %', 20, 0.3, 'better'],
    ['a fifth of its runs, beyond a margin of 10 %', 20, 0.1, 'undecided'],
  ] as const)('D3: and fails %s', (_, failed, failure_margin, verdict) => {
    const plan = createPlan(DAY, (index, own) =>
      REPETITIONS.map((repetition) =>
        own && repetition < failed ? { status: 'failed' } : { value: computeCost(index, own) },
      ),
    );
    const comparison = compare(plan, { indicator: { failure_margin } });
    expect(comparison.verdict).toBe(verdict);
    expect(comparison.failures).toMatchObject({ control: 0, candidate: failed / 100 });
  });

  test('has no verdict when the numbers of runs differ between the sides', () => {
    // Drawn plans, because 64 plans cannot give a p-value below 0.001.
    const letters = 'cbbcbccbcbbccbcbbccbbccbcbbccb';
    const plan = createPlan(letters, (index, own) =>
      REPETITIONS.slice(0, own ? 50 : 100).map(() => ({ value: computeCost(index % 24, own) })),
    );
    const comparison = compare(plan, { kind: 'independent', carryOverUnits: 0 });
    expect(comparison.sample_ratio_test.p_value).toBeLessThan(0.001);
    expect(comparison.verdict).toBe('undecided');
    expect(comparison.reasons[0]).toContain('The numbers of runs differ between the sides');
  });

  test.each(['running', 'stopped'] as const)('D6: has interim results while it is %s', (progress) => {
    const plan = createPlan(DAY, (index, own) => [{ value: computeCost(index, own) }]);
    expect(compare(plan, { overrides: { progress } })).toMatchObject({ interim: true, verdict: 'undecided' });
  });

  test.each([
    { ended: 2, warning: 'No unit of the candidate has ended.' },
    { ended: 24, warning: 'The plan gives the candidate no unit.' },
  ])('names a side without a unit after $ended of 24', ({ ended, warning }) => {
    const plan = createPlan('b'.repeat(ended), (index, own) => [{ value: computeCost(index, own) }]);
    const design = { kind: 'blocked', carryOverUnits: 1, units: 24, unitMinutes: 60 } as const;
    const progress = ended < 24 ? 'running' : 'complete';
    const { warnings } = compare(plan, { overrides: { design, progress } });
    expect(warnings.filter((text) => text.includes('unit'))).toContain(warning);
  });

  test('D6: is better before the end with enough sequential evidence', () => {
    // 40 coins of a plan of 200 units, of which 160 have ended.
    const letters = `${'bbccccbb'.repeat(20)}`;
    const plan = createPlan(letters, (index, own) => [{ value: computeCost((7 * index) % 24, own) }]);
    const design = { kind: 'blocked', carryOverUnits: 1, units: 200, unitMinutes: 7 } as const;
    const comparison = compare(plan, { overrides: { design, progress: 'running' } });
    expect(comparison).toMatchObject({ interim: true, verdict: 'better' });
    const { sequential, geometric_mean_ratio } = comparison;
    expect(sequential.e_value_max).toBeGreaterThan(sequential.threshold);
    // The confidence sequence is wider than the interval of a planned end, and excludes "no change" too.
    expect(sequential.interval?.high).toBeLessThan(1);
    expect(sequential.interval?.low).toBeLessThan(geometric_mean_ratio?.interval?.low ?? 0);
  });
});

describe('a run', () => {
  test('counts after the burn-in only, in every unit', () => {
    const plan = createPlan(DAY, (index, own) => [
      { value: 1000, minutes_into_unit: 4.999 },
      { value: computeCost(index, own), minutes_into_unit: 5 },
      { value: computeCost(index, own) },
    ]);
    const { units } = compare(plan, { overrides: { burnInMinutes: 5 } });
    expect(units.map(({ runs, mean }) => [runs, mean])).toEqual(
      [...DAY].map((letter, index) => [2, computeCost(index, letter === 'c')]),
    );
  });

  test('counts for the mean of its unit, and a unit without a number is left out', () => {
    const plan = createPlan(DAY, (index) =>
      index === 3 ? [{}, { status: 'failed' }] : [{ value: 10 }, { value: 20 }, {}, { status: 'canceled' }],
    );
    const comparison = compare(plan);
    expect(comparison.units).toHaveLength(23);
    expect(new Set(comparison.units.map(({ runs, mean }) => `${runs} ${mean}`))).toEqual(new Set(['2 15']));
    expect(comparison.candidate).toMatchObject({
      units: { total: 12, usable: 11, counted: 7 },
      missing: 12,
      runs: { total: 46, failed: 1, canceled: 11 },
    });
    // Equal units: no effect, and an interval within the margin.
    expect(comparison).toMatchObject({ verdict: 'equivalent', randomization: { p_value: 1 } });
  });

  test('of a unit before the start of the test does not exist, and the control served that unit', () => {
    const plan = createPlan(DAY, (index, own) => (index < 3 ? [] : [{ value: computeCost(index, own) }]));
    const { units } = compare(plan, { overrides: { skippedUnits: 3 } });
    // Unit 3 is the candidate's, but the baseline served unit 2, which the plan gave to the candidate.
    expect(units.slice(0, 3).map(({ index, counted }) => [index, counted])).toEqual([
      [3, false],
      [4, true],
      [5, true],
    ]);
  });
});

test.each([
  // Twelve units are six blocks and three coins: 1 of 8 plans is 0.125. A plan of 18 units has five coins, 1 of 32.
  ['blocked', 1, 'bbccccbbccbb', 6],
  // Eleven units have six coins, of which 2 of 64 plans are 0.031; ten have five.
  ['blocked', 0, 'bccbbccbcb', 1],
] as const)(
  'more_units of a test, %s with carry-over %i, allow a verdict',
  (kind, carryOverUnits, letters, more) => {
    const plan = createPlan(letters, (index, own) => [{ value: computeCost(index, own) }]);
    expect(compare(plan, { kind, carryOverUnits })).toMatchObject({ verdict: 'undecided', more_units: more });
  },
);

test.each([
  [30, 1],
  [15, 3],
])(
  'a clear effect has a verdict with blocks of an hour in one day: %i min, carry-over %i',
  (unitMinutes, carryOverUnits) => {
    const design = {
      kind: 'blocked',
      carryOverUnits,
      units: 12 * (carryOverUnits + 1),
      unitMinutes,
    } as const;
    // One letter is a block, which is an hour.
    const letters = [...'bccbbccbcbbc'].map((letter) => letter.repeat(carryOverUnits + 1)).join('');
    const plan = createPlan(letters, (index, own) => [{ value: computeCost(index % 24, own) }]);
    const found = compare(plan, { overrides: { design } });
    expect(found).toMatchObject({ verdict: 'better' });
    expect(found.adjusted_for).not.toContain('time_of_day');
  },
);
