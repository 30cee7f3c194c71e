/**
 * Wilcoxon's signed-rank test over units of which some failed. A unit that only one side solved has the worst rank of the
 * side that failed (Lachin, "Worst-rank score analysis", Controlled Clinical Trials 1999).
 *
 * Units may depend on each other in two ways, and each makes the plain p-value too small:
 * - Serially: neighbours in time resemble each other. The score is divided by the root of the design effect. Its
 *   distribution is Student's t with one degree of freedom less than the effective sample size. Blocks of consecutive
 *   units are tested in the same way (dependence.ts).
 * - In clusters: one caller, one day. The signed ranks are summed by cluster (Rosner, Glynn and Lee, Biometrics 2006), and
 *   Student's t tests the sums. It stays conservative for as few as five clusters of any variances (Ibragimov and Müller,
 *   Journal of Business & Economic Statistics 2010).
 */

import type { Resampler } from '../bootstrap.ts';
import { computeBlockMeans, estimateSerialMean, type UnitDependence } from '../dependence.ts';
import { computeNormalQuantile, computeStudentTTail } from '../distributions.ts';
import { mean, standardDeviation } from '../numbers.ts';
import { type FlipMethod, testSignFlips } from '../sign-flips.ts';
import { rankMagnitudes, testSignedRanks, type WilcoxonResult } from '../wilcoxon.ts';
import type { PairedUnit } from './units.ts';

/** The exact test has a p-value from this many differing units on; a verdict needs ten units in all. */
export const DIFFERING_UNITS_MIN = 6;
/** From this share of a unit's pairs on, a difference in failures outranks every difference in values. */
const DOMINANT_FAILURE_SHARE = 0.5;

/** Returns +1 for a unit that the candidate failed and the control did not, -1 for the opposite, and 0 for neither. */
export function findLoser({ pairs, control_failed, candidate_failed }: PairedUnit): -1 | 0 | 1 {
  const share = pairs === 0 ? 0 : (candidate_failed - control_failed) / pairs;
  return Math.abs(share) < DOMINANT_FAILURE_SHARE ? 0 : share > 0 ? 1 : -1;
}

/**
 * Returns one score for each unit, to rank: the effect times `worse`, which is +1 where more is worse and -1 where less is.
 * The score of a unit that one side lost is beyond every effect. A unit that both sides failed has the score 0.
 */
export function scoreWorstRanks(units: readonly PairedUnit[], worse: 1 | -1): Float64Array {
  const largest = units.reduce((most, { effect }) => Math.max(most, Math.abs(effect ?? 0)), 0) || 1;
  return Float64Array.from(units, (unit) => {
    const lost = findLoser(unit);
    if (lost === 0) return (unit.effect ?? 0) * worse;
    const share = Math.abs(unit.candidate_failed - unit.control_failed) / unit.pairs;
    return lost * largest * (2 + share);
  });
}

/** Returns the test of scores, which has a p-value from `DIFFERING_UNITS_MIN` scores that are not 0. */
export function testScoredRanks(scores: Float64Array): WilcoxonResult {
  return testSignedRanks(scores, DIFFERING_UNITS_MIN);
}

/**
 * Returns the p-value of a test with `p_value` when only `effective` of `count` units are independent. A design effect of 1
 * or less changes nothing, so that the p-value of independent units stays exact.
 */
function deflateForDependence(p_value: number, count: number, effective: number): number {
  if (effective >= count || p_value >= 1) return p_value;
  const score = -computeNormalQuantile(Math.max(p_value / 2, Number.MIN_VALUE));
  return Math.min(
    1,
    2 * computeStudentTTail(score * Math.sqrt(effective / count), Math.max(1, effective - 1)),
  );
}

/**
 * Returns the largest two-sided p-value of the signed ranks averaged over blocks of consecutive units. Each is corrected for
 * the correlation between neighbouring blocks. It is 0 when there are too few units for blocks.
 */
function testBlockedSignedRanks(scores: Float64Array): number {
  return computeBlockMeans(rankSigned(scores)).reduce((largest, blocks) => {
    const { mean: centre, error, effective } = estimateSerialMean(blocks, 0);
    if (error === 0) return centre === 0 ? 1 : largest;
    const p_value = 2 * computeStudentTTail(Math.abs(centre) / error, Math.max(1, effective - 1));
    return Math.max(largest, Math.min(1, p_value));
  }, 0);
}

/** Returns the two-sided p-value of the signed ranks summed by cluster; null with fewer than two clusters that differ from 0. */
export function testClusteredSignedRanks(scores: Float64Array, clusters: readonly string[]): number | null {
  const ranks = rankSigned(scores);
  const sums = new Map<string, number>();
  ranks.forEach((rank, index) => {
    const cluster = clusters[index] ?? '';
    sums.set(cluster, (sums.get(cluster) ?? 0) + rank);
  });
  const values = [...sums.values()];
  const spread = standardDeviation(values);
  if (values.length < 2 || values.every((value) => value === 0)) return null;
  if (spread === 0) return 2 ** (1 - values.length);
  const t = mean(values) / (spread / Math.sqrt(values.length));
  return Math.min(1, 2 * computeStudentTTail(Math.abs(t), values.length - 1));
}

/** Returns the mid-ranks of the magnitudes with the signs of the scores; 0 for a score of 0, which has no rank. */
function rankSigned(scores: Float64Array): Float64Array {
  const { ranks } = rankMagnitudes(scores.filter((score) => score !== 0));
  let next = 0;
  return scores.map((score) => {
    if (score === 0) return 0;
    next += 1;
    return Math.sign(score) * (ranks[next - 1] ?? 0);
  });
}

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

/** Returns both tests, with p-values corrected for dependence; null below `DIFFERING_UNITS_MIN` units that differ. */
export function testScores(
  scores: Float64Array,
  { serial_correlation, effective_sample_size, clusterings }: UnitDependence,
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
