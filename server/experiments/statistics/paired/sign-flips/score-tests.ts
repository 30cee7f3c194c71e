/** The tests of the scores of units: of the sign flips, which decide, and of the signed ranks. */
import type { Resampler } from '../../bootstrap.ts';
import type { Clustering } from '../dependence.ts';
import {
  deflateForDependence,
  testBlockedSignedRanks,
  testClusteredSignedRanks,
  testScoredRanks,
} from '../signed-rank.ts';
import { type FlipMethod, testSignFlips } from './sign-flips.ts';

/** Both tests of one indicator. */
export interface ScoreTests {
  test: {
    n: number;
    w_plus: number;
    w_minus: number;
    method: 'exact' | 'normal';
    /** The largest of the plain one, the one corrected for serial correlation and those by cluster; null for few units. */
    p_value: number | null;
    score: number;
  };
  /** The test that decides, with a p-value corrected in the same way. */
  flips: { p_value: number | null; method: FlipMethod };
}

interface ScoreDependence {
  serial_correlation: number | null;
  effective_sample_size: number;
  clusterings: readonly Clustering[];
}

/** Returns both tests, with p-values corrected for dependence; null below `DIFFERING_UNITS_MIN` units that differ. */
export function testScores(
  scores: Float64Array,
  { serial_correlation, effective_sample_size, clusterings }: ScoreDependence,
  resampler: Resampler,
): ScoreTests {
  const { p_value: ofRanks, ...ranks } = testScoredRanks(scores);
  const flips = testSignFlips(scores, resampler.flips);
  if (ofRanks === null)
    return { test: { ...ranks, p_value: null }, flips: { p_value: null, method: flips.method } };
  const isSerial = serial_correlation !== null;
  const dependent = [
    ...(isSerial ? [testBlockedSignedRanks(scores)] : []),
    ...clusterings
      .filter(({ use }) => use === 'tested')
      .map(({ labels }) => testClusteredSignedRanks(scores, labels) ?? 1),
  ];
  const correct = (plain: number) =>
    Math.max(
      isSerial ? deflateForDependence(plain, scores.length, effective_sample_size) : 0,
      plain,
      ...dependent,
    );
  return {
    test: { ...ranks, p_value: correct(ofRanks) },
    flips: { p_value: correct(flips.p_value), method: flips.method },
  };
}
