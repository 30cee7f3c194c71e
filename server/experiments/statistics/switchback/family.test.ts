/** Comparisons of switchback tests: what a run counts for, and what withholds a verdict. */

import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { describe, expect, test } from 'vitest';
import { INDICATOR } from '../../../testing/fixtures/paired-runs.ts';
import type { FamilyIndicator } from '../comparison/pipeline.ts';
import type { PlanUnit, SwitchbackRun } from './compare.ts';
import type { DesignKind } from './design.ts';
import { compareSwitchbackFamily, type SwitchbackFamily } from './family.ts';

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

describe('T1: units of which most tie', () => {
  const compareTies = (change: (index: number, isCandidate: boolean) => number) =>
    compare(createPlan(DAY, (index, own) => [{ value: 100 + change(index, own) }]));

  test('are the same where all do, and neither equivalent nor within any bound', () => {
    const found = compareTies(() => 0);
    expect(found).toMatchObject({ verdict: 'same', geometric_mean_ratio: { value: 1, interval: null } });
    expect([found.control.units.counted, found.candidate.units.counted]).toEqual([8, 8]);
    // Of 8 units that tie, up to 1 − 0.05^(1/8) of others may not; its own units alone show what a side does.
    expect(found.reasons[0]).toBe(
      'All 16 units tie; up to 31.2\u00a0% of other units may differ, by any amount.',
    );
  });

  test('have no interval where fewer than six differ, which says nothing of others', () => {
    const found = compareTies((index) => (index === 4 ? 0.001 : 0));
    expect(found).toMatchObject({ verdict: 'undecided', geometric_mean_ratio: { interval: null } });
    expect(found.reasons[0]).toContain('differs: an interval needs 6 that do. Up to');
  });

  test('have an interval where every unit of a side differs', () => {
    const found = compareTies((_index, own) => (own ? 10 : 0));
    expect(found.verdict).toBe('worse');
    expect(found.geometric_mean_ratio?.interval?.low).toBeCloseTo(1.1, 12);
  });
});

test('T8: a test of at most 12 coins spends 5 % at its end, and has no verdict before', () => {
  // 6 coins: the p-value is one of 64, and 3 of them are between 4 and 5 %.
  const effects = Array.from({ length: 200 }, (_, index) => index / 10);
  const found = effects
    .map((effect) =>
      compare(
        createPlan(DAY, (index, own) => [
          { value: 100 + 3 * (NOISE[(index * 5) % NOISE.length] ?? 0) - (own ? effect : 0) },
        ]),
      ),
    )
    .find(({ randomization }) => randomization.p_value === 3 / 64);
  expect(found?.verdict).toBe('better');
  const early = compare(
    createPlan(DAY, (index, own) => [{ value: computeCost(index, own) }]),
    { overrides: { progress: 'running' } },
  );
  expect(early.verdict).toBe('undecided');
  expect(early.reasons).toContain('This comparison gives no verdict before its end.');
});

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
      /^10\u00a0% of the runs in the candidate's units ended without a value, and 0\u00a0% of those in the control's\./,
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
    ['a fifth of its runs, within a margin of 30\u00a0%', 20, 0.3, 'better'],
    ['a fifth of its runs, beyond a margin of 10\u00a0%', 20, 0.1, 'undecided'],
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
    expect(sequential?.e_value_max).toBeGreaterThan(sequential?.threshold ?? Number.POSITIVE_INFINITY);
    // The confidence sequence is wider than the interval of a planned end, and excludes "no change" too.
    expect(sequential?.interval?.high).toBeLessThan(1);
    expect(sequential?.interval?.low).toBeLessThan(geometric_mean_ratio?.interval?.low ?? 0);
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
    // Equal units: no effect, and no interval, because nothing shows how much others may differ.
    expect(comparison).toMatchObject({ verdict: 'same', randomization: { p_value: 1 } });
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

describe('W11: estimates of a switchback test', () => {
  /** 500 at the start, and 4 less in each unit; the candidate adds 30. */
  const drift = (index: number, isCandidate: boolean) => [
    { value: 500 - 4 * index + (isCandidate ? 30 : 0) },
  ];

  test('too few counted units have none, whatever their means', () => {
    const stopped = compare(createPlan('cbcbb', drift), {
      kind: 'independent',
      carryOverUnits: 0,
      overrides: {
        design: { kind: 'independent', carryOverUnits: 0, units: 8, unitMinutes: 60 },
        progress: 'stopped',
      },
    });
    expect(stopped).toMatchObject({
      verdict: 'undecided',
      geometric_mean_ratio: null,
      mean_difference: null,
    });
    expect(stopped.control).toMatchObject({ estimated_mean: null });
    expect(stopped.control.mean).not.toBeNull();
    expect(stopped.reasons.join(' ')).toContain('5 units that count; a verdict needs at least 10.');
  });

  test('the means beside an estimate differ by it, also where it is adjusted', () => {
    // The candidate serves mostly early units, whose values are larger.
    const found = compare(createPlan('cccbcbcccbbcbbcbbbcbbbbb', drift), {
      kind: 'independent',
      carryOverUnits: 0,
    });
    const { control, candidate, geometric_mean_ratio: ratio } = found;
    expect(found.adjusted_for).toEqual(['trend']);
    expect((candidate.estimated_mean ?? 0) / (control.estimated_mean ?? 1)).toBeCloseTo(ratio?.value ?? 0, 9);
    expect((candidate.mean ?? 0) / (control.mean ?? 1)).toBeGreaterThan((ratio?.value ?? 0) + 0.02);
  });
});

describe('T13: the test of a longer influence', () => {
  const letters = 'cbbcbccbcbbccbcbbccbbccbcbbccb';
  /** The candidate saves 20, and the unit after it costs so much more. */
  const compareInfluence = (influence: number) => {
    const plan = createPlan(letters, (index, own) => [
      { value: computeCost(index, own) + (letters[index - 1] === 'c' ? influence : 0) },
    ]);
    return compare(plan, { kind: 'independent', carryOverUnits: 0 });
  };

  test.each([
    [1, 0.05, 1, 'better'],
    [2, 0.01, 0.05, 'better'],
    [6, 0, 0.01, 'undecided'],
  ])('with an influence of %d has a p-value from %d to %d: %s', (influence, least, most, verdict) => {
    const { carry_over_test, reasons, ...found } = compareInfluence(influence);
    expect(carry_over_test.p_value).toBeGreaterThanOrEqual(least);
    expect(carry_over_test.p_value).toBeLessThan(most);
    expect(found.verdict).toBe(verdict);
    expect(reasons.join(' ').includes('seems to last longer')).toBe(verdict === 'undecided');
  });
});

test('T13: a verdict names its assumption about carry-over, and `undecided` has none', () => {
  const ASSUMPTION = 'It assumes that a unit influences at most 1 later unit (carry_over_units).';
  const build = (saving: number) =>
    createPlan(DAY, (index, own) => [{ value: 100 + (NOISE[index] ?? 0) - (own ? saving : 0) }]);
  expect(compare(build(20)).reasons.at(-1)).toBe(ASSUMPTION);
  expect(compare(build(0))).toMatchObject({ verdict: 'undecided' });
  expect(compare(build(0)).reasons).not.toContain(ASSUMPTION);
});
