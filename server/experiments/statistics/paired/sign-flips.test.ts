/** The rules of the test of sign flips beside its numbers, which reference/ compares. */
import { describe, expect, test } from 'vitest';
import { buildDesign, buildSide, INDICATOR } from '../../../testing/fixtures/paired-runs.ts';
import { estimateMeanInterval, Resampler } from '../bootstrap.ts';
import { testSignFlips } from '../sign-flips.ts';
import { reconcileInterval } from './decisive-interval.ts';
import { compareFamily } from './family.ts';

const resampler = new Resampler({ seed: 'seed', resamples: 399 });
const decide = (effects: Float64Array) => {
  const interval = estimateMeanInterval(effects, resampler);
  if (interval === null) throw new Error('No interval.');
  return {
    p_value: testSignFlips(effects, resampler.flips).p_value,
    before: interval.low > 0,
    after: reconcileInterval(interval, effects, { resampler, errorRate: 0.05 }).low > 0,
  };
};

test('T8: equal runs of two experiments have equal p-values', () => {
  const control = Array.from({ length: 20 }, (_, index) => 100 + index);
  const candidate = control.map((value, index) => value * (1 + 0.01 * ((index * 7) % 11) - 0.03));
  const groups = [{ control: buildSide('prod', control), candidate: buildSide('new', candidate) }];
  const [first, second] = ['first', 'second'].map((seed) => {
    const design = { ...buildDesign(399), resampler: new Resampler({ seed, resamples: 399 }) };
    return compareFamily(groups, [INDICATOR], design)[0]?.[0];
  });
  expect(first?.sign_flips.method).toBe('drawn');
  expect(first?.sign_flips).toEqual(second?.sign_flips);
});

describe('T8: the interval of 20 effects', () => {
  // Most are equal, so that the test rejects their mean too, which the others move.
  const equal = Array.from({ length: 15 }, () => 0.02);

  test('agrees with the test where most are equal and the others are on both sides', () => {
    const found = decide(Float64Array.of(...equal, 0.09, -0.09, 0.08, -0.07, 0.06));
    expect(found.p_value).toBeLessThanOrEqual(0.05);
    expect(found).toMatchObject({ before: false, after: true });
  });

  test('includes 0 where one side reaches more than 2.3 times as far from the median', () => {
    const found = decide(Float64Array.of(...equal, 0.03, 0.04, 0.05, -0.1, -0.08));
    expect(found.p_value).toBeLessThanOrEqual(0.05);
    expect(found).toMatchObject({ before: false, after: false });
  });
});
