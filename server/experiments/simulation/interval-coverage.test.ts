import { describe, expect, test } from 'vitest';
import { measureCoverage } from './interval-coverage.ts';

describe('measured coverage', () => {
  // With 400 samples, 95 % minus three standard errors is 91.7 %.
  test.each(['normal', 'difference of lognormals', 'half of them 0'])('of 20 values, %s', (distribution) => {
    expect(measureCoverage(distribution, 20, 400, ['hull']).get('hull')).toBeGreaterThanOrEqual(0.917);
  });

  test('exceeds that of percentiles for few and skewed values', () => {
    const shares = measureCoverage('lognormal', 10, 400, ['percentile', 'hull']);
    expect(shares.get('hull')).toBeGreaterThan((shares.get('percentile') ?? 1) + 0.05);
  });
});
