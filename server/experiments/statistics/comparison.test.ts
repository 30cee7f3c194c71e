import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ComparisonSettings, compareIndicator, compareIndicators } from './comparison.ts';
import type { Observation } from './observations.ts';

type Value = number | string | boolean | undefined;

function run(
  instance_id: string,
  input: number,
  value: Value,
  fields: Partial<Observation> = {},
): Observation {
  return {
    instance_id,
    version_id: 'v1',
    input_id: `input-${input}`,
    option_set: null,
    scenario_id: null,
    repetition: 0,
    status: 'succeeded',
    indicators: value === undefined ? [] : [{ name: 'result.value', value }],
    ...fields,
  };
}

/** Returns one run for each value; a list of values makes repetitions. */
function side(instance_id: string, values: readonly (Value | Value[])[]): Observation[] {
  return values.flatMap((value, input) =>
    [value].flat().map((one, repetition) => run(instance_id, input, one, { repetition })),
  );
}

function compareValues(
  control: readonly (Value | Value[])[],
  candidate: readonly (Value | Value[])[],
  settings: Partial<ComparisonSettings> = {},
) {
  return compareIndicator(side('prod', control), side('new', candidate), 'result.value', {
    objective: 'minimize',
    ...settings,
  });
}

// Darwin's plants, heights in eighths of an inch, crossed and self-fertilised: R's and scipy's example, from Fisher (1935).
const CROSSED = [188, 96, 168, 176, 153, 172, 177, 163, 146, 173, 186, 168, 177, 184, 96];
const SELFED = [139, 163, 160, 160, 147, 149, 149, 122, 132, 144, 130, 144, 102, 124, 144];

describe('Darwin’s plants', () => {
  const found = compareValues(SELFED, CROSSED, { objective: 'maximize' });

  test('have the mean difference, rank sums and p-value of the textbook', () => {
    // Fisher: the mean difference is 20.93 eighths, t gives 0.03 to 41.84. scipy: W = 24, p = 0.0413.
    expect(found.mean_difference?.value).toBeCloseTo(20.9333, 4);
    expect(found.wilcoxon).toMatchObject({ n: 15, w_plus: 96, w_minus: 24 });
    expect(found.wilcoxon.p_value).toBeCloseTo(0.041259765625, 12);
    expect(found.ratio?.value).toBeCloseTo(2423 / 2109, 12);
    expect(found.inputs).toEqual({ total: 15, usable: 15, wins: 13, ties: 0, losses: 2 });
    expect([found.control.mean, found.candidate.mean]).toEqual([2109 / 15, 2423 / 15]);
  });

  test('are undecided, because an end of the interval is close to 0', () => {
    // No interval is narrower than Student's, and with differences skewed to the left it reaches below 0.03.
    expect(found.mean_difference?.interval?.low).toBeLessThanOrEqual(0.04);
    expect(found.mean_difference?.interval?.high).toBeGreaterThanOrEqual(41.83);
    expect(found.verdict).toBe('undecided');
    expect(found.more_inputs).toBeGreaterThan(0);
    expect(found.more_inputs).toBeLessThan(30);
  });
});

describe('verdicts', () => {
  const ten = Array.from({ length: 10 }, (_, index) => 100 + index);
  const worse = ten.map((value, index) => value + 10 + (index % 3));

  test('follow the objective', () => {
    expect(compareValues(ten, worse).verdict).toBe('worse');
    expect(compareValues(ten, worse, { objective: 'maximize' }).verdict).toBe('better');
    expect(compareValues(worse, ten).verdict).toBe('better');
  });

  test('need ten inputs, however clear the difference', () => {
    const found = compareValues(ten.slice(1), worse.slice(1));
    expect(found).toMatchObject({ verdict: 'undecided', more_inputs: 1, wilcoxon: { p_value: null } });
    expect(found.reasons.join()).toContain('9 inputs');
  });

  test('do not count repetitions as inputs', () => {
    const repeated = (values: number[]) =>
      values.slice(0, 2).map((value) => new Array<number>(20).fill(value));
    const found = compareValues(repeated(ten), repeated(worse));
    expect(found.pairs.usable).toBe(40);
    expect(found).toMatchObject({ verdict: 'undecided', inputs: { usable: 2 }, wilcoxon: { n: 2 } });
  });

  test('are equivalent without any difference, even with one input', () => {
    const found = compareValues([5], [5]);
    expect(found).toMatchObject({ verdict: 'equivalent', more_inputs: null, mean_difference: { value: 0 } });
    expect(found.warnings.join()).toContain('one usable input');
    // A tie up to one part in 10^9 is no difference.
    expect(compareValues([1], [1 + 1e-10]).verdict).toBe('equivalent');
    expect(compareValues([1], [1 + 1e-8]).verdict).toBe('undecided');
  });

  test('are equivalent within the default tolerance of 1 % of the control', () => {
    const near = ten.map((value, index) => value + (index % 2 ? 0.1 : -0.1));
    expect(compareValues(ten, near).verdict).toBe('equivalent');
    const strict = compareValues(ten, near, { tolerance: { type: 'absolute', value: 0.01 } });
    expect(strict.verdict).toBe('undecided');
    expect(strict.more_inputs).toBeGreaterThan(100);
  });

  test('have a reason that a certain difference is small', () => {
    const found = compareValues(
      ten,
      ten.map((value, index) => value - 0.1 - index / 1000),
    );
    expect(found.verdict).toBe('better');
    expect(found.reasons.join()).toContain('lies within ±1 % of the control’s mean');
  });

  test('are undecided when one input outweighs the others', () => {
    const control = new Array<number>(12).fill(100);
    const candidate = control.map((value, index) => (index === 0 ? 100_000 : value - 1 - index / 100));
    const found = compareValues(control, candidate);
    expect(found.wilcoxon.p_value).toBeLessThan(0.05);
    expect(found).toMatchObject({ verdict: 'undecided', more_inputs: null });
  });
});

describe('missing values', () => {
  test('of all runs make the comparison undecided', () => {
    for (const [control, candidate] of [
      [[], []],
      [[1, 2], []],
      [
        ['nan', true],
        [1, 2],
      ],
      [[undefined], [undefined]],
    ] satisfies [Value[], Value[]][]) {
      const found = compareValues(control, candidate);
      expect(found).toMatchObject({
        verdict: 'undecided',
        more_inputs: null,
        mean_difference: null,
        ratio: null,
        control: { mean: null },
        wilcoxon: { n: 0, p_value: null },
      });
      expect(found.warnings.length).toBeGreaterThan(0);
    }
  });

  test('of failed runs and of runs without a number are omitted, counted and reported', () => {
    const control = side('prod', [1, 2, 3, 4, 5]);
    const candidate = [
      run('new', 0, 2),
      run('new', 1, 999, { status: 'failed' }),
      run('new', 2, 'nan'),
      run('new', 3, 4, { status: 'canceled' }),
      run('new', 9, 7),
    ];
    const found = compareIndicator(control, candidate, 'result.value', { objective: 'minimize' });
    expect(found.inputs).toEqual({ total: 6, usable: 1, wins: 0, ties: 0, losses: 1 });
    expect(found.candidate.runs).toMatchObject({ total: 5, succeeded: 3, failed: 1, canceled: 1 });
    expect(found.candidate.missing).toBe(1);
    expect(found.warnings.join(' ')).toContain('lost runs differently');
    expect(found.warnings.join(' ')).toContain('5 inputs of 6 have no usable value');
  });

  test.each<{
    name: string;
    control: Value[];
    candidate: Value[];
    warning: RegExp;
    countsAsLost: boolean;
  }>([
    {
      name: 'one side',
      control: [1, 2],
      candidate: [undefined, undefined],
      warning: /The candidate \(instance "new", version "v1"\) does not report result\.value: none of its 2/,
      countsAsLost: false,
    },
    {
      name: 'the other side',
      control: ['nan'],
      candidate: [1],
      warning: /The control \(instance "prod", version "v1"\) does not report result\.value: its only/,
      countsAsLost: false,
    },
    {
      name: 'both sides',
      control: [undefined],
      candidate: [true],
      warning: /The control .* does not report .*The candidate .* does not report/,
      countsAsLost: false,
    },
    {
      name: 'some runs of a side',
      control: [1, 2],
      candidate: [1, undefined],
      warning: /^1 run of the candidate \(instance "new", version "v1"\) succeeded without a number/,
      countsAsLost: true,
    },
  ])('B13: an indicator that $name does not report', ({ control, candidate, warning, countsAsLost }) => {
    const warnings = compareValues(control, candidate).warnings.join(' ');
    expect(warnings).toMatch(warning);
    expect(warnings.includes('lost runs differently')).toBe(countsAsLost);
  });

  test('B13: failed runs count as lost even where the others do not report the indicator', () => {
    const candidate = [run('new', 0, undefined), run('new', 1, 1, { status: 'failed' })];
    const { warnings } = compareIndicator(side('prod', [1, 2]), candidate, 'result.value', {
      objective: 'minimize',
    });
    expect(warnings.join(' ')).toMatch(/does not report .*lost runs differently/);
  });

  test('a control that contains 0 or both signs has no ratio', () => {
    expect(compareValues([0, 1], [1, 1]).ratio).toBe(null);
    expect(compareValues([-1, 1], [1, 1]).ratio).toBe(null);
    expect(compareValues([-2, -4], [-1, -2]).ratio).toEqual({ value: 0.5, interval: null });
  });

  test('an undecided comparison with an interval that excludes 0 states how many inputs must differ', () => {
    const control = [100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100];
    const found = compareValues(control, [90, 91, 92, 93, 94, 95, 96, 97, 100, 100, 100, 100]);
    expect(found.verdict).toBe('undecided');
    expect(found.reasons).toContain("Wilcoxon's test needs at least 10 inputs that differ, and 8 inputs do.");
  });

  test('ties of more than half of the inputs cause a warning', () => {
    const found = compareValues([1, 2, 3, 4, 5], [1, 2, 3, 5, 6]);
    expect(found.inputs).toMatchObject({ ties: 3, losses: 2 });
    expect(found.warnings.join(' ')).toContain('3 of 5 inputs tie');
  });
});

describe('pairs', () => {
  test('match repetitions, and a failed run makes only its own pair unusable', () => {
    const found = compareValues([[1, 2, 3]], [[2, undefined, 3]]);
    expect(found.pairs).toEqual({ total: 3, usable: 2, wins: 0, ties: 1, losses: 1 });
    expect(found.mean_difference?.value).toBe(0.5);
  });

  test('are the means of an input where the sides ran different repetitions', () => {
    const found = compareValues([[1, 2, 3]], [[4]]);
    expect(found.pairs).toMatchObject({ total: 1, usable: 1 });
    expect(found.mean_difference?.value).toBe(2);
    expect(found.warnings.join(' ')).toContain('paired by their means');
  });

  test('match option sets where both sides have the same ones, and repetitions where each has its own', () => {
    const twoSets = (instance: string, values: number[]) =>
      values.map((value, index) => run(instance, 0, value, { option_set: `set-${index}` }));
    const same = compareIndicator(
      twoSets('prod', [1, 10]),
      twoSets('new', [2, 10]).reverse(),
      'result.value',
      {
        objective: 'minimize',
      },
    );
    expect(same.pairs).toEqual({ total: 2, usable: 2, wins: 0, ties: 1, losses: 1 });
    const own = compareIndicator(
      [run('prod', 0, 1, { option_set: 'a_0' })],
      [run('new', 0, 3, { option_set: 'b_0' })],
      'result.value',
      { objective: 'minimize' },
    );
    expect(own.pairs.usable).toBe(1);
    expect(own.warnings.join(' ')).not.toContain('means');
  });
});

test('the largest and smallest doubles have finite results', () => {
  for (const size of [Number.MAX_VALUE, 5e-324]) {
    const control = new Array<number>(12).fill(-size);
    const found = compareValues(
      control,
      control.map((value) => -value),
    );
    const { value, interval } = found.mean_difference ?? {};
    expect([value, interval?.low, interval?.high].every(Number.isFinite)).toBe(true);
    expect(found).toMatchObject({ verdict: 'worse', ratio: { value: -1 } });
  }
});

test('the p-values of several indicators are adjusted together', () => {
  const runs = (instance: string, shift: number) =>
    Array.from({ length: 12 }, (_, input) => ({
      ...run(instance, input, undefined),
      indicators: [
        { name: 'result.value', value: 100 + input + shift * (3 + input / 10) },
        { name: 'result.duration', value: 50 + (input % 2 ? shift : -shift) * (input + 1) },
      ],
    }));
  const found = compareIndicators(
    runs('prod', 0),
    runs('new', 1),
    new Map([
      ['result.value', 'minimize'],
      ['result.duration', 'minimize'],
      ['result.nothing', 'maximize'],
    ]),
  );
  // Twelve of one sign have p = 2 / 2^12, and twice that with two known p-values.
  expect(found[0]?.wilcoxon).toMatchObject({ p_value: 2 / 4096, p_value_holm: 4 / 4096 });
  expect(found[1]?.wilcoxon.p_value_holm).toBe(found[1]?.wilcoxon.p_value);
  expect(found[2]?.wilcoxon).toMatchObject({ p_value: null, p_value_holm: null });
});

describe('any runs', () => {
  const value = fc.integer({ min: -40, max: 40 });
  const both = fc.array(fc.tuple(fc.array(value, { minLength: 2, maxLength: 2 }), value, value), {
    minLength: 8,
    maxLength: 25,
  });
  const settings = { tolerance: { type: 'absolute', value: 3 }, resamples: 199 } as const;
  const MIRROR = {
    better: 'worse',
    worse: 'better',
    equivalent: 'equivalent',
    undecided: 'undecided',
  } as const;

  test('have the same result in any order and scale, and the opposite verdict when swapped', () => {
    fc.assert(
      fc.property(
        both,
        fc.integer({ min: 0, max: 10 }),
        fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
        (drawn, shift, factor) => {
          const control = side(
            'prod',
            drawn.map(([values]) => values),
          );
          const candidate = side(
            'new',
            drawn.map(([, one, other]) => [one + shift, other + shift]),
          );
          const found = compareIndicator(control, candidate, 'result.value', {
            objective: 'minimize',
            ...settings,
          });
          expect(
            compareIndicator(control.toReversed(), candidate.toReversed(), 'result.value', {
              objective: 'minimize',
              ...settings,
            }),
          ).toEqual(found);
          const swapped = compareIndicator(candidate, control, 'result.value', {
            objective: 'minimize',
            ...settings,
          });
          expect(swapped.verdict).toBe(MIRROR[found.verdict]);
          expect(swapped.wilcoxon.p_value).toBe(found.wilcoxon.p_value);
          expect(swapped.more_inputs).toBe(found.more_inputs);
          const scaled = (runs: Observation[]) =>
            runs.map((one) => ({
              ...one,
              indicators: one.indicators.map(({ name, value }) => ({ name, value: Number(value) * factor })),
            }));
          const larger = compareIndicator(scaled(control), scaled(candidate), 'result.value', {
            objective: 'minimize',
            ...settings,
            tolerance: { type: 'absolute', value: 3 * factor },
          });
          expect(larger.verdict).toBe(found.verdict);
          expect(larger.wilcoxon.p_value).toBe(found.wilcoxon.p_value);
        },
      ),
      { numRuns: 60 },
    );
  });
});
