import { describe, expect, test } from 'vitest';
import { measureCoverage } from './interval-coverage.ts';

describe('measured coverage', () => {
  // 400 samples: 95 % less three standard errors is 91.7 %.
  test.each(['normal', 'difference of lognormals', 'half of them 0'])('of 20 values, %s', (distribution) => {
    expect(measureCoverage(distribution, 20, 400, ['hull']).get('hull')).toBeGreaterThanOrEqual(0.917);
  });

  test('is better than that of percentiles where values are few and skewed', () => {
    const shares = measureCoverage('lognormal', 10, 400, ['percentile', 'hull']);
    expect(shares.get('hull')).toBeGreaterThan((shares.get('percentile') ?? 1) + 0.05);
  });
});
