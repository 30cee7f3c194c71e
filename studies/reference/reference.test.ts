/** Compares the statistics with scipy, statsmodels and enumeration: reference.py writes the expected numbers. */

import { Resampler } from '@switchyard/server/experiments/statistics/bootstrap.ts';
import { runTestMartingale } from '@switchyard/server/experiments/statistics/comparison/interim.ts';
import { adjustWeightedHolm } from '@switchyard/server/experiments/statistics/comparison/pipeline.ts';
import {
  describeClustering,
  estimateSerialCorrelation,
} from '@switchyard/server/experiments/statistics/dependence.ts';
import {
  computeBinomialUpperTail,
  computeChiSquaredQuantile,
  computeClopperPearson,
  computeFQuantile,
  computeNormalQuantile,
  computeStudentTQuantile,
  computeStudentTTail,
} from '@switchyard/server/experiments/statistics/distributions.ts';
import type { Observation } from '@switchyard/server/experiments/statistics/observations.ts';
import { compareFamily } from '@switchyard/server/experiments/statistics/paired/family.ts';
import { compareFailures } from '@switchyard/server/experiments/statistics/paired/losses.ts';
import {
  testClusteredSignedRanks,
  testScoredRanks,
} from '@switchyard/server/experiments/statistics/paired/signed-rank.ts';
import type { PairedUnit } from '@switchyard/server/experiments/statistics/paired/units.ts';
import {
  DRAWN_FLIPS,
  FlipSource,
  findNearEnd,
  testSignFlips,
} from '@switchyard/server/experiments/statistics/sign-flips.ts';
import { describe, expect, test } from 'vitest';
import reference from './reference.json' with { type: 'json' };

/** A unit with so many failed pairs of each side, and no other result. */
function buildUnit(candidate_failed: number, control_failed: number, pairs: number): PairedUnit {
  return {
    input_ids: ['input'],
    position: 0,
    last_block: null,
    clusters: {},
    features: {},
    state: 'complete',
    pairs,
    control_failed,
    candidate_failed,
    control: null,
    candidate: null,
    effect: null,
    pair_values: [],
    pair_effects: [],
    hidden_effect: 0,
  };
}

describe('Wilcoxon’s test', () => {
  test.each(reference.wilcoxon.map((one) => [one.n, one] as const))(
    'of %d differing units',
    (_, { scores, n, w_plus, w_minus, p_value }) => {
      const found = testScoredRanks(Float64Array.from(scores));
      expect(found).toMatchObject({ n, w_plus, w_minus });
      expect(found.p_value).toBeCloseTo(p_value, 12);
    },
  );
});

describe('T8: the test of sign flips', () => {
  const flips = new FlipSource();

  test.each(reference.sign_flips.exact)(
    'of $effects has the p-value of all flips',
    ({ effects, p_value }) => {
      const found = testSignFlips(Float64Array.from(effects), flips);
      expect(found.method).toBe('exact');
      expect(found.p_value).toBeCloseTo(p_value, 12);
    },
  );

  test.each(reference.sign_flips.drawn)(
    'of $effects.length effects is within four standard errors of all flips',
    ({ effects, p_value }) => {
      const found = testSignFlips(Float64Array.from(effects), flips);
      expect(found.method).toBe('drawn');
      expect(Math.abs(found.p_value - p_value)).toBeLessThan(
        4 * Math.sqrt((p_value * (1 - p_value)) / DRAWN_FLIPS),
      );
    },
  );

  test.each(reference.sign_flips.near_ends)(
    'of $effects just does not reject the end of its interval',
    ({ effects, end }) => {
      const values = Float64Array.from(effects);
      const found = findNearEnd(values, 0.05, flips) ?? Number.NaN;
      const centre = values.reduce((total, value) => total + value, 0) / values.length;
      expect(Math.abs(found - end)).toBeLessThan(Math.abs(centre) / 1000);
    },
  );

  test('of 200 effects has the normal limit of both statistics', () => {
    // Equal magnitudes: both statistics count signs, of which 115 of 200 are positive. scipy: binomtest(115, 200).
    const effects = Float64Array.from({ length: 200 }, (_, index) => (index < 115 ? 1 : -1));
    const found = testSignFlips(effects, flips);
    expect(found.method).toBe('normal');
    expect(Math.abs(found.p_value - reference.sign_flips.coins)).toBeLessThan(0.0005);
  });

  test('of effects with one sign is as small as 100 tests of a family need', () => {
    const { p_value } = testSignFlips(
      Float64Array.from({ length: 20 }, (_, index) => 1 + index),
      flips,
    );
    expect(p_value).toBeGreaterThanOrEqual(2 / 2 ** 20);
    expect(p_value).toBeLessThanOrEqual(4 / 2 ** 20);
  });
});

describe('failures', () => {
  test.each(reference.failures.single)(
    'of $candidate_only and $control_only units have McNemar’s exact p-value',
    ({ candidate_only, control_only, p_value }) => {
      const units = [
        ...Array.from({ length: candidate_only }, () => buildUnit(1, 0, 1)),
        ...Array.from({ length: control_only }, () => buildUnit(0, 1, 1)),
        buildUnit(0, 0, 1),
      ];
      const found = compareFailures(units);
      expect(found).toMatchObject({ candidate_only, control_only });
      expect(found.p_value).toBeCloseTo(p_value, 9);
    },
  );

  test.each(reference.failures.repeated)(
    'of repetitions, $differences more in each unit',
    ({ differences, p_value }) => {
      const units = differences.map((one) => buildUnit(Math.max(0, one), Math.max(0, -one), 5));
      expect(compareFailures(units).p_value).toBeCloseTo(p_value, 12);
    },
  );

  // scipy.stats.beta.ppf(0.975, 2, 3): one of four groups of five, and one of four units, are lost.
  test.each([
    ['groups', 5, Array.from({ length: 20 }, (_, index) => `group ${Math.floor(index / 5)}`)],
    ['units', 1, undefined],
  ])('T2: of %s are bounded as independent trials', (_, lost, groups) => {
    const units = Array.from({ length: lost * 4 }, (_, index) => buildUnit(index < lost ? 1 : 0, 0, 1));
    expect(compareFailures(units, groups).excess_upper).toBeCloseTo(0.805_88, 6);
  });

  test.each(reference.distributions.clopper_pearson)(
    'in $successes of $trials have Clopper and Pearson’s bounds of $confidence',
    ({ successes, trials, confidence, low, high }) => {
      const found = computeClopperPearson(successes, trials, confidence);
      expect(found.low).toBeCloseTo(low, 7);
      expect(found.high).toBeCloseTo(high, 7);
    },
  );
});

test.each(reference.holm.map((one) => [one.p_values.length, one] as const))(
  'Holm’s weighted rule for %d p-values is the closed test',
  (_, { p_values, weights, adjusted }) => {
    const found = adjustWeightedHolm(p_values, weights);
    for (const [index, expected] of adjusted.entries()) expect(found[index]).toBeCloseTo(expected, 12);
  },
);

test('quantiles and tails', () => {
  const { t_quantiles, t_tails, normal_quantiles, binomial_tails } = reference.distributions;
  for (const [degrees = 0, twoSided95 = 0, twoSided96 = 0] of t_quantiles) {
    expect(computeStudentTQuantile(0.975, degrees) / twoSided95).toBeCloseTo(1, 6);
    expect(computeStudentTQuantile(0.98, degrees) / twoSided96).toBeCloseTo(1, 6);
  }
  for (const [degrees = 0, t = 0, tail = 0] of t_tails)
    expect(computeStudentTTail(t, degrees)).toBeCloseTo(tail, 8);
  for (const [probability = 0, quantile = 0] of normal_quantiles)
    expect(computeNormalQuantile(probability)).toBeCloseTo(quantile, 5);
  for (const [successes = 0, tosses = 0, tail = 0] of binomial_tails)
    expect(computeBinomialUpperTail(successes, tosses)).toBeCloseTo(tail, 8);
});

test('T6: quantiles of variances', () => {
  const { chi_squared_quantiles, f_quantiles } = reference.distributions;
  for (const [probability = 0, degrees = 0, quantile = 0] of chi_squared_quantiles)
    expect(computeChiSquaredQuantile(probability, degrees) / quantile).toBeCloseTo(1, 8);
  for (const [probability = 0, numerator = 0, denominator = 0, quantile = 0] of f_quantiles)
    expect(computeFQuantile(probability, numerator, denominator) / quantile).toBeCloseTo(1, 8);
});

describe('dependence', () => {
  test.each(reference.dependence.series)(
    'the correlation of neighbours, $raw, is corrected for its bias',
    ({ values, bias_corrected }) => {
      expect(estimateSerialCorrelation(values, 0)).toBeCloseTo(Math.max(0, bias_corrected), 9);
      // Half a standard error more is the margin of safety.
      const error = Math.sqrt((1 - Math.min(1, bias_corrected ** 2)) / values.length);
      expect(estimateSerialCorrelation(values)).toBeCloseTo(
        Math.min(0.99, Math.max(0, bias_corrected + error / 2)),
        9,
      );
    },
  );

  test.each(reference.dependence.clusters.map((one) => [one.values.length, one] as const))(
    '%d units in clusters',
    (_, { labels, values, intraclass_correlation, effective, p_value }) => {
      const scores = Float64Array.from(values);
      const losses = new Float64Array(scores.length);
      const found = describeClustering('caller', labels, { values: scores, losses, seed: 'seed' });
      expect(found?.intraclass_correlation).toBeCloseTo(intraclass_correlation, 10);
      expect(found?.effective).toBeCloseTo(effective, 10);
      // The t-test of the signed ranks summed by cluster.
      expect(testClusteredSignedRanks(scores, labels)).toBeCloseTo(p_value, 8);
    },
  );
});

test.each(reference.martingale.map((one) => [one.effects.length, one] as const))(
  'the e-value after 10 and %d units is the integral over the mixture',
  (_, { effects, e_values }) => {
    const [afterTen = 0, afterAll = 0] = e_values;
    expect(runTestMartingale(effects.slice(0, 10), { serial: false }).e_value / afterTen).toBeCloseTo(1, 8);
    expect(runTestMartingale(effects, { serial: false }).e_value / afterAll).toBeCloseTo(1, 8);
  },
);

describe('a comparison', () => {
  const RUN = {
    version_id: 'v1',
    option_set: null,
    scenario_id: null,
    repetition: null,
    status: 'succeeded',
  };
  const listRuns = (instance_id: string, values: readonly number[]): Observation[] =>
    values.map((value, index) => ({
      ...RUN,
      instance_id,
      input_id: `input-${index}`,
      indicators: [{ name: 'cost', value }],
    }));

  function compareCosts(control: readonly number[], candidate: readonly number[]) {
    const group = { control: listRuns('control', control), candidate: listRuns('candidate', candidate) };
    const [[found] = []] = compareFamily(
      [group],
      [
        {
          indicator: 'cost',
          value_type: 'number',
          role: 'primary',
          direction: 'minimize',
          measure: 'auto',
          margin: { type: 'relative', value: 0.01 },
          tie_tolerance: 1e-9,
          shift: 0,
          largest_loss: null,
          failure_margin: null,
          failure_value: null,
        },
      ],
      {
        unit: 'input',
        serial: false,
        clusterings: [],
        progress: 'complete',
        listIndicatorBlockers: () => [],
        resampler: new Resampler({ seed: 'reference', resamples: 39_999 }),
      },
    );
    if (!found) throw new Error('There is no comparison.');
    return found;
  }

  /** Two bootstraps with 40,000 and 100,000 resamples differ by at most 3 % of the width. */
  function expectInterval(
    found: { interval: { low: number; high: number } | null } | null,
    expected: number[],
  ) {
    const [low = 0, high = 0] = expected;
    const { interval } = found ?? {};
    expect(Math.abs((interval?.low ?? 0) - low)).toBeLessThan(0.03 * (high - low));
    expect(Math.abs((interval?.high ?? 0) - high)).toBeLessThan(0.03 * (high - low));
  }

  test.each(reference.comparisons.map((one) => [one.control.length, one] as const))(
    'of %d inputs',
    (_, expected) => {
      const found = compareCosts(expected.control, expected.candidate);
      expect(found.measure).toBe('relative');
      expect(found.geometric_mean_ratio?.value).toBeCloseTo(expected.geometric_mean_ratio, 12);
      expectInterval(found.geometric_mean_ratio, expected.log_interval.map(Math.exp));
      // The interval is never narrower than Student's.
      const [low = 0, high = 0] = expected.student_interval;
      expect(found.geometric_mean_ratio?.interval?.low).toBeLessThanOrEqual(low + 1e-6);
      expect(found.geometric_mean_ratio?.interval?.high).toBeGreaterThanOrEqual(high - 1e-6);
      expect(found.mean_difference?.value).toBeCloseTo(expected.mean_difference, 9);
      expectInterval(found.mean_difference, expected.difference_interval);
      expect(found.ratio?.value).toBeCloseTo(expected.ratio, 12);
      expectInterval(found.ratio, expected.ratio_interval);
      expect(found.wilcoxon.p_value).toBeCloseTo(expected.p_value, 12);
      expect(found.wilcoxon.w_plus).toBe(expected.w_plus);
    },
  );
});
