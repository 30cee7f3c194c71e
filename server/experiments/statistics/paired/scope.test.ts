/** T13: a verdict says about which inputs and for which time it holds. */

import { describe, expect, test } from 'vitest';
import { buildDesign, buildRun, compareValues, INDICATOR } from '../../../testing/fixtures/paired-runs.ts';
import { compareFamily } from './family.ts';

/** Compares so many originals in time order, with a mean effect of 10 % and these deviations from it. */
function compareSeries(count: number, findDeviation: (index: number) => number, effect = 0.1) {
  const indices = Array.from({ length: count }, (_, index) => index);
  const control = indices.map((index) => buildRun('prod', index, 100));
  const candidate = indices.map((index) =>
    buildRun('new', index, 100 * Math.exp(effect + findDeviation(index))),
  );
  const design = { ...buildDesign(399), unit: 'original', serial: true } as const;
  const [[comparison] = []] = compareFamily([{ control, candidate }], [INDICATOR], design);
  return comparison;
}

/** Neighbours differ: there is no dependence to see. */
const alternate = (index: number) => 0.01 * (((index * 3) % 7) - 3);
const SHORT =
  'Fewer than 150 originals seldom show an effect that changes slowly: the verdict holds for their time.';

describe('T13: the time of a verdict', () => {
  test('of a short series is in its reasons, and no warning', () => {
    for (const count of [30, 149]) {
      const found = compareSeries(count, alternate);
      expect(found).toMatchObject({ verdict: 'worse', warnings: [] });
      expect(found?.reasons.at(-1)).toBe(SHORT);
    }
  });

  test('of a long series without a slow change needs no word', () => {
    const found = compareSeries(210, alternate);
    expect(found).toMatchObject({ verdict: 'worse', warnings: [] });
    expect(found?.dependence.slow_change?.p_value).toBeGreaterThan(0.5);
    expect(found?.reasons.join(' ')).not.toContain('time');
  });

  test('of a long series that changes slowly is a warning', () => {
    const found = compareSeries(210, (index) => alternate(index) + 0.01 * Math.sin(index / 33));
    expect(found?.dependence.slow_change?.p_value).toBeLessThanOrEqual(0.1);
    expect(found?.warnings.join(' ')).toContain('The effect changes slowly during the test');
    expect(found?.reasons.join(' ')).not.toContain('the verdict holds');
  });

  test('is not in the reasons of `undecided`', () => {
    const found = compareSeries(30, (index) => 3 * alternate(index), 0.001);
    expect(found).toMatchObject({ verdict: 'undecided', warnings: [] });
    expect(found?.reasons).not.toContain(SHORT);
  });
});

describe('T13: the other inputs of a verdict', () => {
  const control = Array.from({ length: 20 }, (_, index) => 100 + index);
  const change = (findEffect: (index: number) => number) =>
    control.map((value, index) => value * (1 + findEffect(index)));
  const spread = (index: number) => 0.05 + (index % 5) / 1000;

  // No gain among 20 leaves 1 − 0.05^(1/20) = 13.9 % of others; one leaves 21.6 % (Clopper and Pearson).
  test.each([
    ['worse', 'No input is better', (index: number) => spread(index), '13.9'],
    ['better', 'No input is worse', (index: number) => -spread(index), '13.9'],
    ['worse', '1 input of 20 is better', (index: number) => (index === 0 ? -0.001 : spread(index)), '21.6'],
    ['better', '1 input of 20 is worse', (index: number) => (index === 0 ? 0.001 : -spread(index)), '21.6'],
  ] as const)('are those of `%s`: %s', (verdict, start, findEffect, percent) => {
    const found = compareValues(control, change(findEffect));
    const word = verdict === 'worse' ? 'better' : 'worse';
    expect(found.verdict).toBe(verdict);
    expect(found.reasons).toContain(
      `${start}: with 95 % confidence, at most ${percent}\u00a0% of other inputs are ${word}.`,
    );
  });
});

describe('T1: inputs of one depot are one observation', () => {
  const control = Array.from({ length: 24 }, (_, index) => 100 + index);
  /** Compares 24 inputs of six depots with these relative changes. */
  function compareDepots(findEffect: (index: number) => number) {
    const build = (instance: string, values: readonly number[]) =>
      values.map((value, index) =>
        buildRun(instance, index, value, { clusters: { depot: `depot ${index % 6}` } }),
      );
    const candidate = control.map((value, index) => value * (1 + findEffect(index)));
    const group = { control: build('prod', control), candidate: build('new', candidate) };
    const [[found] = []] = compareFamily([group], [INDICATOR], {
      ...buildDesign(399),
      clusterings: ['depot'],
    });
    if (!found) throw new Error('There is no comparison.');
    return found;
  }
  const gain = (index: number) => -0.05 - (index % 5) / 1000;
  const COUNT = 'The 24 inputs count as 6 independent ones.';

  test('no worse one among 24 leaves 39.3 % of others', () => {
    const found = compareDepots(gain);
    // 1 − 0.05^(1/6) = 39.3 %; 24 independent inputs leave 11.7 %.
    expect(found.verdict).toBe('better');
    expect(found.losses?.upper).toBeCloseTo(1 - 0.05 ** (1 / 6), 9);
    expect(found.reasons).toContain(
      `No input is worse: with 95 % confidence, at most 39.3\u00a0% of other inputs are worse. ${COUNT}`,
    );
  });

  test('a worse one makes one of six depots', () => {
    const found = compareDepots((index) => (index === 0 ? 0.001 : gain(index)));
    const upper = found.losses?.upper ?? 0;
    // Clopper and Pearson: at most one of six has the probability 5 %.
    expect((1 - upper) ** 6 + 6 * upper * (1 - upper) ** 5).toBeCloseTo(0.05, 9);
    expect(found.losses?.share).toBeCloseTo(1 / 24, 12);
    expect(found.reasons).toContain(
      `1 input of 24 is worse: with 95 % confidence, at most 58.2\u00a0% of other inputs are worse. ${COUNT}`,
    );
  });

  test('T2: ties with one difference are five depots of six', () => {
    const found = compareDepots((index) => (index === 0 ? 0.05 : 0));
    expect(found.verdict).toBe('undecided');
    expect(found.reasons[0]).toBe(
      `Only 1 of 24 inputs differs: an interval needs 6 that do, or \`largest_loss\`. Up to 58.2\u00a0% of other inputs may differ. ${COUNT}`,
    );
  });
});

/** Sixteen small inputs of about 100, and four large ones of about 1,000. */
const CONTROL = Array.from({ length: 20 }, (_, index) => (index < 16 ? 100 + index : 1000 + 10 * index));
/** A candidate with these changes on small and on large inputs, which differ a little between inputs. */
const build = (small: number, large: number) =>
  CONTROL.map((value, index) => value * (1 + (index < 16 ? small : large) + ((index % 4) - 1.5) / 1000));

describe('T14: a verdict on ratios', () => {
  test('says that the total may not follow, with its figures', () => {
    // The sixteen gain 3 % of 1,720 in all, and the four lose 1.2 % of 4,700.
    const candidate = build(-0.03, 0.012);
    const found = compareValues(CONTROL, candidate);
    expect(found.verdict).toBe('better');
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    expect(found.ratio?.value).toBeCloseTo(sum(candidate) / sum(CONTROL), 12);
    const [, high] = [found.ratio?.interval?.low, found.ratio?.interval?.high];
    expect(high).toBeGreaterThan(1);
    expect(found.reasons.join(' ')).toMatch(
      /The typical input is better; the total over all inputs may not be: .0\.0\d+\u00a0% \(95\u00a0% interval −[\d.]+\u00a0% to \+[\d.]+\u00a0%\)\./,
    );
  });

  test('says nothing where the total follows', () => {
    const found = compareValues(CONTROL, build(-0.03, -0.03));
    expect(found.verdict).toBe('better');
    expect(found.reasons.join(' ')).not.toContain('the total');
  });

  test('says nothing without a verdict', () => {
    expect(compareValues(CONTROL, build(0, 0.012)).reasons.join(' ')).not.toContain('the total');
  });
});
