/**
 * The test of a verdict over independent units: sign flips, two-sided. The null hypothesis is that effects are symmetric
 * about 0, so that every effect is as likely to have the opposite sign.
 *
 * Two statistics share one p-value. The mean is the better one for normal effects, and the signed-rank sum for heavy tails.
 * Each has its p-value over the same flips, and that of the mean counts `MEAN_WEIGHT` times. The smaller one is compared with
 * the smaller ones of all flips (min-p, Westfall and Young 1993), so that looking at both costs no level and little power.
 * The mean counts less because it adds at most 1 point of power to the ranks, and costs 6 where more than half tie.
 *
 * - The mean is studentized (Janssen, Statistics & Probability Letters 1997): the level then holds approximately for effects
 *   of mean 0 that are not symmetric. The sum of squares is the same for every flip, so that the order of flips by |t| is
 *   that by the magnitude of their sum.
 * - Effects of 0 have ranks too, and no sign (Pratt, Journal of the American Statistical Association 1959). They never flip.
 * - Up to `ENUMERATED_UNITS_MAX` effects that are not 0, all flips are enumerated and the p-value is exact. Up to
 *   `DRAWN_UNITS_MAX`, flips are drawn with one seed for all experiments, so that equal runs have equal p-values. They flip
 *   the observed signs, which count as one of them. Above, both statistics are normal, with the correlation that they have
 *   over all flips.
 * - Drawn flips cannot show a p-value below one part of their number, which many indicators need. So the p-value is at most
 *   1.5 times the exact one of the ranks, and at most 3 times Hoeffding's bound for the mean (1963). Both are above the exact
 *   one, because P(min(ranks, 2 × mean) ≤ p) is at most p + p / 2.
 */

import { RandomGenerator } from '../../platform/random-generator.ts';
import { computeNormalQuantile } from './distributions.ts';
import { bisect, mean, normalUpperTail, sum } from './numbers.ts';
import { computeExactTail, rankMagnitudes, TIE_SHARE } from './wilcoxon.ts';

/** How the p-value is computed: over all flips, over drawn ones, or by the normal approximation. */
export type FlipMethod = 'exact' | 'drawn' | 'normal';

const DRAWN_UNITS_MAX = 100;
/** The p-value of the mean counts this many times: two thirds of the error rate are for the ranks. */
const MEAN_WEIGHT = 2;
/** With at most so many drawn flips as extreme as the observed signs, the bounds of the p-value are looked at too. */
const RARE_FLIPS_MAX = 20;
/** Ranks with a larger sum, among very many ties, have Hoeffding's bound instead of the exact tail. */
const RANK_TOTAL_MAX = 200_000;
const INTEGRATION_STEPS = 200;
/** Below it, a quantile loses its digits, and Bonferroni's bound is as good. */
const SMALLEST_P_VALUE = 1e-12;
/** Halvings that locate the end of an interval: to 1/65,536 of the searched distance. */
const SEARCH_STEPS = 16;
/** Doublings of a distance that reach any end. */
const WIDENINGS_MAX = 20;

/** Returns the p-value of the effects, one for each unit; 1 when all are 0. The sign is 0 where the statistics disagree. */
export function testSignFlips(
  effects: Float64Array,
  source: FlipSource,
): { p_value: number; method: FlipMethod; sign: -1 | 0 | 1 } {
  const ranks = rankMagnitudes(effects).ranks;
  const differing = [...effects.keys()].filter((index) => effects[index] !== 0);
  const values = Float64Array.from(differing, (index) => effects[index] ?? 0);
  const ranked = Float64Array.from(
    differing,
    (index) => Math.sign(effects[index] ?? 0) * (ranks[index] ?? 0),
  );
  const units = values.length;
  const sign = findSharedSign(sum(values), sum(ranked));
  if (units === 0) return { p_value: 1, method: 'exact', sign };
  if (units > DRAWN_UNITS_MAX) return { p_value: approximatePValue(values, ranked), method: 'normal', sign };
  const isExact = units <= ENUMERATED_UNITS_MAX;
  const flips = source.flip(units);
  const ofMean = measureFlips(values, flips, isExact);
  const ofRanks = measureFlips(ranked, flips, isExact);
  // The observed signs count as one drawn flip; among all flips they are one already.
  const total = ofMean.distances.length + (isExact ? 0 : 1);
  const smaller = Math.min(MEAN_WEIGHT * ofMean.extremes.length, ofRanks.extremes.length);
  const meanLimit = findLimit(ofMean, Math.floor(smaller / MEAN_WEIGHT));
  const ranksLimit = findLimit(ofRanks, smaller);
  let extreme = isExact ? 0 : 1;
  ofMean.distances.forEach((distance, flip) => {
    if (distance >= meanLimit || (ofRanks.distances[flip] ?? 0) >= ranksLimit) extreme += 1;
  });
  const share = extreme / total;
  if (isExact) return { p_value: share, method: 'exact', sign };
  const isRare = extreme <= RARE_FLIPS_MAX;
  return { p_value: isRare ? Math.min(share, boundPValue(values, ranked)) : share, method: 'drawn', sign };
}

function findSharedSign(first: number, second: number): -1 | 0 | 1 {
  if (first * second <= 0) return 0;
  return first > 0 ? 1 : -1;
}

/** The sums of one statistic over all flips. */
interface FlippedSums {
  /** The magnitude of the sum after each flip. */
  distances: Float64Array;
  /** In ascending order, those that are at least the observed one, which is one of them. */
  extremes: Float64Array;
  /** Two distances tie when they differ by at most this much. */
  tolerance: number;
}

function measureFlips(values: Float64Array, flips: Flips, isExact: boolean): FlippedSums {
  const distances = sumFlipped(values, flips).map(Math.abs);
  const observed = Math.abs(sum(values));
  const tolerance = TIE_SHARE * sum(values.map(Math.abs));
  const reached = distances.filter((distance) => distance >= observed - tolerance);
  // All flips contain the observed signs; drawn ones need not.
  const extremes = isExact ? reached : Float64Array.of(...reached, observed);
  return { distances, extremes: extremes.sort(), tolerance };
}

/** Returns the least distance that at most `count` distances reach; infinite where more tie with the largest. */
function findLimit({ extremes, tolerance }: FlippedSums, count: number): number {
  let index = extremes.length - count;
  const tiesWithNext = () => index > 0 && (extremes[index] ?? 0) - (extremes[index - 1] ?? 0) <= tolerance;
  while (index < extremes.length && tiesWithNext()) index += 1;
  return index === extremes.length ? Number.POSITIVE_INFINITY : (extremes[index] ?? 0) - tolerance / 2;
}

/** Returns an upper bound of the p-value over all flips: Bonferroni's over the two statistics with their weights. */
function boundPValue(values: Float64Array, ranked: Float64Array): number {
  const ofMean = 2 * Math.exp(-(standardize(values) ** 2) / 2);
  const total = 2 * sum(ranked.map(Math.abs));
  const ofRanks =
    total > RANK_TOTAL_MAX
      ? 2 * Math.exp(-(standardize(ranked) ** 2) / 2)
      : 2 *
        computeExactTail(
          Int32Array.from(ranked, (rank) => 2 * Math.abs(rank)),
          Math.round((total - 2 * Math.abs(sum(ranked))) / 2),
        );
  return Math.min(1, (1 + 1 / MEAN_WEIGHT) * Math.min(MEAN_WEIGHT * ofMean, ofRanks));
}

/** Returns the magnitude of a sum in standard deviations over all flips; `correction` is subtracted from the sum first. */
function standardize(values: Float64Array, correction = 0): number {
  const deviation = Math.sqrt(sum(values.map((value) => value * value)));
  return Math.max(0, Math.abs(sum(values)) - correction) / deviation;
}

/**
 * Returns the p-value when both statistics are normal. A flip of the smallest value changes a sum by twice that value. Half
 * of such a step is the correction for continuity, because values of one magnitude, such as flags, have no smaller step.
 */
function approximatePValue(values: Float64Array, ranked: Float64Array): number {
  const [ofMean, ofRanks] = [values, ranked].map(
    (one) => 2 * normalUpperTail(standardize(one, Math.min(...one.map(Math.abs)))),
  );
  const products = values.map((value, index) => value * (ranked[index] ?? 0));
  const squares = sum(values.map((value) => value * value)) * sum(ranked.map((rank) => rank * rank));
  const smaller = Math.min(MEAN_WEIGHT * (ofMean ?? 1), ofRanks ?? 1);
  if (smaller < SMALLEST_P_VALUE) return smaller * (1 + 1 / MEAN_WEIGHT);
  const [meanLimit, ranksLimit] = [smaller / MEAN_WEIGHT, smaller].map((p) => -computeNormalQuantile(p / 2));
  return computeEitherTail(meanLimit ?? 0, ranksLimit ?? 0, Math.min(1, sum(products) / Math.sqrt(squares)));
}

/**
 * Returns the probability that the magnitude of one of two standard normal numbers with this correlation reaches its limit.
 * The first limit is the larger one.
 */
function computeEitherTail(first: number, second: number, correlation: number): number {
  const rest = Math.sqrt(1 - correlation ** 2);
  if (rest < 1e-6 || second === 0) return Math.min(1, 2 * normalUpperTail(second));
  // P(|one| < first, |other| >= second): Simpson's rule over the one, with both ends of the other by symmetry.
  const width = (2 * first) / INTEGRATION_STEPS;
  let total = 0;
  for (let step = 0; step <= INTEGRATION_STEPS; step += 1) {
    const value = -first + step * width;
    const weight = step === 0 || step === INTEGRATION_STEPS ? 1 : step % 2 === 1 ? 4 : 2;
    const density = Math.exp((-value * value) / 2) / Math.sqrt(2 * Math.PI);
    total += weight * density * normalUpperTail((second - correlation * value) / rest);
  }
  return Math.min(1, 2 * normalUpperTail(first) + (2 * total * width) / 3);
}

/**
 * Returns the end next to 0 of the interval of the mean effect. It is the shift farthest from the mean in that direction
 * which the test does not reject at `errorRate`. It is null for a mean that the test itself rejects, and for too few units
 * to reject any.
 */
export function findNearEnd(effects: Float64Array, errorRate: number, source: FlipSource): number | null {
  const centre = mean(effects);
  const isRejected = (shift: number) =>
    testSignFlips(
      effects.map((effect) => effect - shift),
      source,
    ).p_value <= errorRate;
  if (centre === 0 || isRejected(centre)) return null;
  let accepted = centre;
  let rejected = 0;
  for (let widening = 0; !isRejected(rejected); widening += 1) {
    if (widening === WIDENINGS_MAX) return null;
    accepted = rejected;
    rejected = rejected === 0 ? -centre / 4 : 2 * rejected;
  }
  return bisect({ inside: accepted, outside: rejected }, isRejected, SEARCH_STEPS).inside;
}

/** Up to so many units, all flips are enumerated. Above, flips are drawn. */
const ENUMERATED_UNITS_MAX = 14;
/** Number of drawn flips, besides the observed signs: they take as long as all flips of 14 units. */
export const DRAWN_FLIPS = 7999;

const BITS_PER_DRAW = 32;
const BITS_PER_BYTE = 8;

/** Flips of some units, one after the other. Bit k of byte b of a flip is 1 where unit 8 b + k changes its sign. */
interface Flips {
  count: number;
  bytesPerFlip: number;
  bytes: Uint8Array;
}

/**
 * Draws flips, and retains the latest ones: all indicators of an experiment have about as many units that differ. The seed is
 * the same for all experiments: equal runs have equal p-values, and a repeated analysis is no second chance.
 */
export class FlipSource {
  private latest: { units: number; flips: Flips } | null = null;

  /** Returns all flips of few units, one of each pair of opposites, or drawn ones. */
  flip(units: number): Flips {
    if (this.latest?.units === units) return this.latest.flips;
    const flips = units <= ENUMERATED_UNITS_MAX ? enumerateFlips(units) : drawFlips(units);
    this.latest = { units, flips };
    return flips;
  }
}

function drawFlips(units: number): Flips {
  const generator = new RandomGenerator('flips');
  const bytesPerFlip = Math.ceil(units / BITS_PER_BYTE);
  const bytes = new Uint8Array(DRAWN_FLIPS * bytesPerFlip);
  let [bits, left] = [0, 0];
  for (let start = 0; start < bytes.length; start += bytesPerFlip)
    for (let unit = 0; unit < units; unit += 1) {
      if (left === 0) [bits, left] = [generator.bits(), BITS_PER_DRAW];
      const place = start + (unit >> 3);
      bytes[place] = (bytes[place] ?? 0) | ((~bits & 1) << (unit & 7));
      bits >>>= 1;
      left -= 1;
    }
  return { count: DRAWN_FLIPS, bytesPerFlip, bytes };
}

/** Lists every flip of so many units that leaves the first sign: the others are their opposites. */
function enumerateFlips(units: number): Flips {
  const bytesPerFlip = Math.ceil(units / BITS_PER_BYTE);
  const count = 2 ** (units - 1);
  const bytes = new Uint8Array(count * bytesPerFlip);
  for (let flip = 0; flip < count; flip += 1)
    for (let byte = 0; byte < bytesPerFlip; byte += 1)
      bytes[flip * bytesPerFlip + byte] = (flip << 1) >> (BITS_PER_BYTE * byte);
  return { count, bytesPerFlip, bytes };
}

/** Returns the sum of the values after each flip. Sums of eight values are looked up, which is eight times as fast. */
function sumFlipped(values: Float64Array, { count, bytesPerFlip, bytes }: Flips): Float64Array {
  const tables = Float64Array.from({ length: bytesPerFlip << BITS_PER_BYTE });
  for (let byte = 0; byte < bytesPerFlip; byte += 1) {
    const table = tables.subarray(byte << BITS_PER_BYTE, (byte + 1) << BITS_PER_BYTE);
    const own = values.subarray(BITS_PER_BYTE * byte, BITS_PER_BYTE * (byte + 1));
    table[0] = sum(own);
    for (let pattern = 1; pattern < table.length; pattern += 1) {
      const highest = 31 - Math.clz32(pattern);
      table[pattern] = (table[pattern ^ (1 << highest)] ?? 0) - 2 * (own[highest] ?? 0);
    }
  }
  const sums = new Float64Array(count);
  for (let flip = 0; flip < count; flip += 1) {
    let total = 0;
    for (let byte = 0; byte < bytesPerFlip; byte += 1)
      total += tables[(byte << BITS_PER_BYTE) | (bytes[flip * bytesPerFlip + byte] ?? 0)] ?? 0;
    sums[flip] = total;
  }
  return sums;
}
