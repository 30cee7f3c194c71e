/** T14: the typical unit and the total over all units. */
import { describe, expect, test } from 'vitest';
import { compareValues } from '../../../testing/fixtures/paired-runs.ts';

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
