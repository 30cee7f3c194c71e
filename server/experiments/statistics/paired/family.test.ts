/** Comparisons of paired runs: effects, missing values and warnings. */
import { describe, expect, test } from 'vitest';
import {
  ABSOLUTE,
  buildDesign,
  buildRun,
  buildSide,
  compareRuns,
  compareValues,
  INDICATOR,
  type Value,
} from '../../../testing/fixtures/paired-runs.ts';
import { computeNormalQuantile } from '../distributions.ts';
import type { Observation } from '../observations.ts';
import { compareFamily, type FamilyDesign } from './family.ts';

// Darwin's plants, heights in eighths of an inch, crossed and self-fertilised: R's and scipy's example, from Fisher (1935).
const CROSSED = [188, 96, 168, 176, 153, 172, 177, 163, 146, 173, 186, 168, 177, 184, 96];
const SELFED = [139, 163, 160, 160, 147, 149, 149, 122, 132, 144, 130, 144, 102, 124, 144];
/** Of the 32,768 flips, by enumeration in studies/reference. */
const DARWIN_P_VALUE = 0.041259765625;

describe('Darwin’s plants', () => {
  const found = compareValues(SELFED, CROSSED, { ...ABSOLUTE, direction: 'maximize' });

  test('have the mean difference, rank sums and p-value of the textbook', () => {
    // Fisher: the mean difference is 20.93 eighths, t gives 0.03 to 41.84. scipy: W = 24, p = 0.0413.
    expect(found.mean_difference?.value).toBeCloseTo(20.9333, 4);
    expect(found.wilcoxon).toMatchObject({ n: 15, w_plus: 96, w_minus: 24 });
    expect(found.wilcoxon.p_value).toBeCloseTo(0.041259765625, 12);
    expect(found.ratio?.value).toBeCloseTo(2423 / 2109, 12);
    expect(found.inputs).toEqual({ total: 15, usable: 15, wins: 13, ties: 0, losses: 2 });
    expect(found.control.mean).toBeCloseTo(2109 / 15, 10);
    expect(found.candidate.mean).toBeCloseTo(2423 / 15, 10);
  });

  test('T8: have an interval that agrees with the test', () => {
    // Drawn flips have a standard error of 0.0034.
    const p_value = found.sign_flips.p_value ?? Number.NaN;
    expect(Math.abs(p_value - DARWIN_P_VALUE)).toBeLessThan(4 * 0.0034);
    expect(found.mean_difference?.interval?.high).toBeGreaterThanOrEqual(41.83);
    expect((found.mean_difference?.interval?.low ?? 0) > 0).toBe(p_value <= 0.05);
    expect(found.verdict).toBe(p_value <= 0.05 ? 'better' : 'undecided');
  });
});

describe('verdicts', () => {
  const ten = Array.from({ length: 10 }, (_, index) => 100 + index);
  const worse = ten.map((value, index) => value + 10 + (index % 3));

  test('follow the direction', () => {
    expect(compareValues(ten, worse).verdict).toBe('worse');
    expect(compareValues(ten, worse, { direction: 'maximize' }).verdict).toBe('better');
    expect(compareValues(worse, ten).verdict).toBe('better');
    expect(compareValues(ten, worse, { direction: 'none' }).verdict).toBe('higher');
    expect(compareValues(worse, ten, { direction: 'none' }).verdict).toBe('lower');
  });

  test('are not same within a margin below a tie tolerance that hides the difference', () => {
    const larger = ten.map((value) => 1.015 * value);
    expect(compareValues(ten, larger, { tie_tolerance: 0.02 })).toMatchObject({
      verdict: 'undecided',
      inputs: { ties: 10 },
    });
    const margin = { type: 'relative', value: 0.02 } as const;
    expect(compareValues(ten, larger, { tie_tolerance: 0.02, margin }).verdict).toBe('same');
  });

  test('need ten inputs, however clear the difference', () => {
    const found = compareValues(ten.slice(1), worse.slice(1));
    expect(found).toMatchObject({ verdict: 'undecided', inputs: { losses: 9 } });
    expect(found.reasons.join()).toContain('9 inputs');
  });

  test('do not count repetitions as inputs', () => {
    const repeated = (values: number[]) =>
      values.slice(0, 2).map((value) => new Array<number>(20).fill(value));
    const found = compareValues(repeated(ten), repeated(worse));
    expect(found.pairs.usable).toBe(40);
    expect(found).toMatchObject({ verdict: 'undecided', inputs: { usable: 2 }, wilcoxon: { n: 2 } });
  });

  test('T1: one input without a difference is undecided, and ten are same', () => {
    expect(compareValues([5], [5])).toMatchObject({ verdict: 'undecided', mean_difference: { value: 0 } });
    expect(compareValues(ten, ten).verdict).toBe('same');
    // A tie up to one part in 10^9 is no difference.
    expect(compareValues([1], [1 + 1e-10]).inputs).toMatchObject({ ties: 1, losses: 0 });
    expect(compareValues([1], [1 + 1e-8]).inputs).toMatchObject({ ties: 0, losses: 1 });
  });

  test('are equivalent within the margin', () => {
    const near = ten.map((value, index) => value + (index % 2 ? 0.1 : -0.1));
    expect(compareValues(ten, near).verdict).toBe('equivalent');
    const strict = { ...ABSOLUTE, margin: { type: 'absolute', value: 0.01 } } as const;
    expect(compareValues(ten, near, strict)).toMatchObject({ verdict: 'undecided' });
  });

  test('D11: eight wins, no loss and twelve ties are better', () => {
    const control = new Array<number>(20).fill(100);
    const candidate = control.map((value, index) => (index < 8 ? value - 2 - index : value));
    const found = compareValues(control, candidate);
    // 2 / 2^8: the exact p-value of eight of one sign.
    expect(found.wilcoxon).toMatchObject({ n: 8, p_value: 2 / 256 });
    expect(found.verdict).toBe('better');
  });

  test('are undecided when one input outweighs the others', () => {
    const control = new Array<number>(12).fill(100);
    const candidate = control.map((value, index) => (index === 0 ? 100_000 : value - 1 - index / 100));
    const found = compareValues(control, candidate, ABSOLUTE);
    expect(found.wilcoxon.p_value).toBeLessThan(0.05);
    expect(found.verdict).toBe('undecided');
  });

  test('of a typical change need a mean change in the same direction', () => {
    // Lognormal ratios with the logarithmic mean -0.18 and deviation 0.6: their mean is exp(-0.18 + 0.6^2 / 2) = 1.
    const control = new Array<number>(100).fill(100);
    const draw = (mean: number, deviation: number) =>
      control.map(
        (value, index) => value * Math.exp(mean + deviation * computeNormalQuantile((index + 0.5) / 100)),
      );
    const found = compareValues(control, draw(-0.18, 0.6));
    expect(found.geometric_mean_ratio?.interval?.high).toBeLessThan(1);
    expect(found.verdict).toBe('undecided');
    expect(found.reasons[0]).toContain('The mean of the relative changes is not shown to differ from 0');
    expect(compareValues(control, draw(-0.18, 0.06)).verdict).toBe('better');
  });

  test('D9: sizes over orders of magnitude do not hide a difference of 5 %', () => {
    const control = Array.from({ length: 12 }, (_, index) => 10 ** (index / 3));
    const candidate = control.map((value, index) => value * (1.05 + (index % 5) / 200));
    expect(compareValues(control, candidate)).toMatchObject({ measure: 'relative', verdict: 'worse' });
    // The differences grow with the sizes, and all have one sign.
    expect(compareValues(control, candidate, ABSOLUTE)).toMatchObject({
      measure: 'absolute',
      verdict: 'worse',
    });
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
        geometric_mean_ratio: null,
        mean_difference: null,
        ratio: null,
        control: { mean: null },
      });
      expect(found.warnings.length).toBeGreaterThan(0);
    }
  });

  test('of failed runs are losses, and canceled runs say nothing', () => {
    const control = buildSide('prod', [1, 2, 3, 4, 5]);
    const candidate = [
      buildRun('new', 0, 2),
      buildRun('new', 1, 999, { status: 'failed' }),
      buildRun('new', 2, 'nan'),
      buildRun('new', 3, 4, { status: 'canceled' }),
      buildRun('new', 9, 7),
    ];
    const found = compareRuns(control, candidate);
    // Input 0 is worse, 1 and 2 are lost; 3 was canceled, and 4 and 9 ran on one side only.
    expect(found.inputs).toEqual({ total: 6, usable: 3, wins: 0, ties: 0, losses: 3 });
    expect(found.failures).toMatchObject({ candidate_only: 2, control_only: 0, candidate_failed: 2 });
    expect(found.candidate.runs).toMatchObject({ total: 5, succeeded: 3, failed: 1, canceled: 1 });
    expect(found.candidate.missing).toBe(1);
    expect(found.warnings.join(' ')).toContain('The candidate failed in 2 inputs that the control solved');
  });

  test('D3: a candidate that is better where it runs and fails on a fifth is not better', () => {
    const control = Array.from({ length: 20 }, (_, index) => 100 + index);
    const candidate = control.map((value, index) =>
      index % 5 === 0 ? undefined : value * 0.97 + index / 50,
    );
    expect(compareValues(control, candidate).verdict).not.toBe('better');
    const solved = control.map((value, index) => value * 0.97 + index / 50);
    expect(compareValues(control, solved).verdict).toBe('better');
  });

  test.each<{ name: string; control: Value[]; candidate: Value[]; warning: RegExp }>([
    {
      name: 'one side',
      control: [1, 2],
      candidate: [undefined, undefined],
      warning: /The candidate \(instance "new", version "v1"\) does not report result\.value: none of its 2/,
    },
    {
      name: 'the other side',
      control: ['nan'],
      candidate: [1],
      warning: /The control \(instance "prod", version "v1"\) does not report result\.value: its only/,
    },
    {
      name: 'both sides',
      control: [undefined],
      candidate: [true],
      warning: /The control .* does not report .*The candidate .* does not report/,
    },
    {
      name: 'some runs of a side',
      control: [1, 2],
      candidate: [1, undefined],
      warning:
        /^1 run of the candidate \(instance "new", version "v1"\) succeeded without a number as result\.value; they count as failed/,
    },
  ])('B13: an indicator that $name does not report', ({ control, candidate, warning }) => {
    expect(compareValues(control, candidate).warnings.join(' ')).toMatch(warning);
  });

  test('a control that contains 0 or both signs has no ratio', () => {
    expect(compareValues([0, 1], [1, 1])).toMatchObject({ measure: 'absolute', ratio: null });
    expect(compareValues([-1, 1], [1, 1])).toMatchObject({ measure: 'absolute', ratio: null });
    expect(compareValues([-2, -4], [-1, -2]).ratio).toEqual({ value: 0.5, interval: null });
    // With a shift of 10 the values are positive, as for solution times of 0 s.
    expect(compareValues([0, 1], [1, 1], { shift: 10 }).geometric_mean_ratio?.value).toBeCloseTo(
      Math.sqrt(11 / 10),
      12,
    );
  });

  test('ties of more than half of the inputs cause a warning', () => {
    const found = compareValues([1, 2, 3, 4, 5], [1, 2, 3, 5, 6]);
    expect(found.inputs).toMatchObject({ ties: 3, losses: 2 });
    expect(found.warnings.join(' ')).toContain('3 of 5 inputs tie');
  });
});

describe('pairs', () => {
  test('match repetitions, and a failed run loses only its own pair', () => {
    const found = compareValues([[1, 2, 3]], [[2, undefined, 3]], ABSOLUTE);
    expect(found.pairs).toMatchObject({ total: 3, usable: 2, ties: 1, losses: 1 });
    expect(found.mean_difference?.value).toBe(0.5);
    expect(found.failures).toMatchObject({ candidate_failed: 1, candidate_only: 0 });
  });

  test('are the means of an input where the sides ran different repetitions', () => {
    const found = compareValues([[1, 2, 3]], [[4]], ABSOLUTE);
    expect(found.pairs).toMatchObject({ total: 1, usable: 1 });
    expect(found.mean_difference?.value).toBe(2);
    expect(found.warnings.join(' ')).toContain('compared by their means');
  });

  test('match option sets where both sides have the same ones, and repetitions where each has its own', () => {
    const twoSets = (instance: string, values: number[]) =>
      values.map((value, index) => buildRun(instance, 0, value, { option_set: `set-${index}` }));
    const same = compareRuns(twoSets('prod', [1, 10]), twoSets('new', [2, 10]).reverse());
    expect(same.pairs).toEqual({ total: 2, usable: 2, wins: 0, ties: 1, losses: 1 });
    const own = compareRuns(
      [buildRun('prod', 0, 1, { option_set: 'a_0' })],
      [buildRun('new', 0, 3, { option_set: 'b_0' })],
    );
    expect(own.pairs.usable).toBe(1);
    expect(own.warnings.join(' ')).not.toContain('means');
  });

  test('D5: inputs of the same content are one input', () => {
    const runs = (instance: string, factor: number) =>
      Array.from({ length: 20 }, (_, index) =>
        buildRun(instance, index, (100 + (index % 4)) * factor, { content: `content-${index % 4}` }),
      );
    const found = compareRuns(runs('prod', 1), runs('new', 0.9));
    expect(found).toMatchObject({ verdict: 'undecided', inputs: { total: 4, wins: 4 } });
    expect(found.warnings.join(' ')).toContain('16 inputs of 20 repeat the content of another');
  });

  test('D17: two contents with one input id are two inputs', () => {
    const runs = (instance: string, shift: number) => [
      buildRun(instance, 0, 10 + shift, { content: 'one' }),
      buildRun(instance, 0, 500 + shift, { content: 'other' }),
    ];
    const found = compareRuns(runs('prod', 0), runs('new', 1));
    expect(found.inputs).toMatchObject({ total: 2, losses: 2 });
    expect(found.warnings.join(' ')).not.toContain('repetitions');
  });
});

test('the largest and smallest doubles have finite results', () => {
  for (const size of [1e308, Number.MAX_VALUE, 5e-324]) {
    const control = new Array<number>(12).fill(-size);
    const found = compareValues(
      control,
      control.map((value) => -value),
    );
    const { value, interval } = found.mean_difference ?? {};
    expect([value, interval?.low, interval?.high].every(Number.isFinite)).toBe(true);
    expect(found).toMatchObject({ verdict: 'worse', ratio: { value: -1 } });
  }
  const ratios = compareValues(new Array<number>(12).fill(5e-324), new Array<number>(12).fill(1e308));
  expect(ratios).toMatchObject({ measure: 'relative', verdict: 'worse' });
  expect(Number.isFinite(ratios.geometric_mean_ratio?.value)).toBe(true);
});

test('a shift near the largest double keeps the direction of the difference', () => {
  const controls = new Array<number>(12).fill(1e308);
  const candidates = new Array<number>(12).fill(1.1e308);
  const found = compareValues(controls, candidates, { shift: 1e308 });
  expect(found).toMatchObject({ verdict: 'worse', inputs: { losses: 12 } });
  expect(found.geometric_mean_ratio?.value).toBeCloseTo(2.1 / 2, 10);
});

test('the margin of shifted ratios is a share of the shifted control', () => {
  // 1.1 against 1 is 10 % more, but with a shift of 10 only 0.9 %.
  const found = compareValues(
    Array.from({ length: 12 }, (_, index) => 1 + index / 1000),
    Array.from({ length: 12 }, (_, index) => 1.05 + ((index * 7) % 12) / 1000),
    { shift: 10 },
  );
  expect(found.reasons.join(' ')).toContain('within ±1\u00a0% of (the control + 10)');
});

describe('failures that depend on each other', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 + ((37 * index) % 53) / 10);
  const build = (side: string, changes: (index: number) => Partial<Observation>) =>
    values.map((value, index) => buildRun(side, index, value, changes(index)));
  const failed = { status: 'failed', indicators: [] };
  const compare = (
    candidate: Observation[],
    design: Partial<FamilyDesign>,
    caller?: (index: number) => string,
  ) => {
    const clusters = (index: number) => (caller ? { clusters: { caller: caller(index) } } : {});
    const control = build('prod', clusters).slice(0, candidate.length);
    const [[found] = []] = compareFamily([{ control, candidate }], [INDICATOR], {
      ...buildDesign(199),
      ...design,
    });
    return found;
  };
  const shadow = { unit: 'original', serial: true, clusterings: ['caller'] } as const;

  test('by caller leave too few callers for a verdict', () => {
    const caller = (index: number) => `caller ${index % 3}`;
    const candidate = build('new', (index) => ({
      clusters: { caller: caller(index) },
      ...(index % 3 === 0 ? failed : {}),
    }));
    expect(compare(candidate, shadow, caller)).toMatchObject({
      verdict: 'undecided',
      failures: { candidate_only: 34 },
      dependence: { clusterings: [{ by: 'caller', count: 3, use: 'different' }] },
    });
  });

  test('in one stretch of 25 originals are no evidence before the end', () => {
    const candidate = build('new', (index) => (index >= 40 && index < 65 ? failed : {}));
    const found = compare(candidate, { ...shadow, progress: 'running' });
    expect(found).toMatchObject({ verdict: 'undecided', failures: { candidate_only: 25 } });
    // Counted as independent, 25 failures alone have an e-value above 1,000.
    expect(found?.sequential?.e_value_max).toBeLessThan(20);
  });

  test('on each of 24 inputs in random order are evidence before the end', () => {
    const candidate = build('new', () => failed).slice(0, 24);
    const found = compare(candidate, { progress: 'running' });
    expect(found).toMatchObject({ verdict: 'worse', interim: true });
    // Each failure enters as 4: S = 96 and V = 384.
    expect(found?.sequential?.e_value).toBeCloseTo(Math.sqrt(8 / 392) * Math.exp(96 ** 2 / (2 * 392)), 6);
  });
});

test('D7: the verdict uses the p-values that are adjusted for all indicators and candidates', () => {
  // Twelve of which ten have one sign: W- = 3, and 5 of the 4,096 rank sums are at most 3. The mean has the same order.
  const control = Array.from({ length: 12 }, (_, index) => 100 + index);
  const candidate = control.map((value, index) => value * (1 + (index < 2 ? -1 : 1) * (index + 1) * 0.01));
  const group = { control: buildSide('prod', control), candidate: buildSide('new', candidate) };
  const p_value = compareRuns(group.control, group.candidate).sign_flips.p_value ?? 1;
  expect(p_value).toBe(10 / 4096);
  const [alone, ...others] = compareFamily(
    Array.from({ length: 24 }, () => group),
    [INDICATOR],
    buildDesign(199),
  ).flat();
  expect(others).toHaveLength(23);
  // Equal p-values: Holm multiplies each by 24, which is above 5 %.
  expect(alone?.sign_flips.p_value_holm).toBeCloseTo(24 * p_value, 12);
  expect(alone?.verdict).toBe('undecided');
  expect(compareRuns(group.control, group.candidate).verdict).toBe('worse');
});
