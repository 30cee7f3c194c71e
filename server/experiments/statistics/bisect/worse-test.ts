/**
 * A sequential test of a version, which may be read after every round. It decides at last for every effect of
 * the version: a test of power one, as in Waeber, Frazier and Henderson (SIAM Journal on Control and Optimization 2013).
 *
 * - worse: the version is worse than the good one.
 * - not worse: it is not worse by the difference that matters, and it is better than the bad version. The bad version counts
 *   unless its own test shows that it is worse by more than the difference.
 *
 * A step of any size between two versions is therefore a distance of its whole size from either answer. A limit in the
 * middle would be half as far away, and need four times as many rounds.
 *
 * Let x be the effect of a round minus a limit. If the effect is at most the limit, x is as likely to be above any amount as
 * below its negative, or less. That is exact for versions that behave alike. Then two e-values have a mean of at most 1 at
 * any stop, without a condition on moments.
 *
 * The first is the product of 1 + 0.9 sign(x). It needs few rounds for clear effects, as of an app that repeats exactly.
 *
 * The second needs fewer rounds under noise. S and V are the sums of x and x², in units of the earlier rounds:
 *
 *     2 sqrt(r / (V + r)) exp(S² / (2 (V + r))) Φ(S / sqrt(V + r))
 *
 * It is the mixture of exp(λS - λ²V/2) over a half-normal λ of precision r. The file interim.ts has its two-sided form.
 *
 * The mean of both exceeds 1/α with probability at most α (Ville). The test of the other side has the same form with -x.
 */
import { computeNormalCdf } from '../distributions.ts';
import { clamp } from '../numbers.ts';

/** Share of the capital that the first e-value bets on a sign. */
const BET = 0.9;
const MIXTURE_PRECISION = 8;
const UNIT_LIMIT = 4;
/** Share of the difference up to which an effect is at a limit: rounding must not look like a sign. */
const ROUNDING = 1e-9;

/** The effects of a round, positive for worse: Infinity is a round that the version lost. */
export interface RoundEffects {
  /** Against the good version. */
  effect: number;
  /** Against the bad version; null where the round does not have it. */
  ahead: number | null;
}

/** The state of the test after some rounds. */
export interface WorseTest {
  /** Null while the rounds do not decide. */
  decision: 'worse' | 'not_worse' | null;
  /** Rounds up to the decision, or all of them. */
  rounds: number;
  /** The larger of the e-values of both answers after these rounds. */
  e_value: number;
  /** The e-value that the version is worse by more than the difference. */
  beyond_e_value: number;
}

/** The evidence about the side of a limit on which the mean of the effects is. */
class SideEvidence {
  #signsUp = 1;
  #signsDown = 1;
  #sum = 0;
  #variance = 0;
  #squares = 0;
  #scaled = 0;

  add(excess: number): void {
    this.#signsUp *= 1 + BET * Math.sign(excess);
    this.#signsDown *= 1 - BET * Math.sign(excess);
    // The scale is that of earlier rounds alone: a scale that knows this round would not leave the sum fair.
    const scale = Math.sqrt(this.#squares / Math.max(1, this.#scaled));
    if (scale > 0) {
      const unit = clamp(excess / scale, -UNIT_LIMIT, UNIT_LIMIT);
      this.#sum += unit;
      this.#variance += unit * unit;
    }
    if (!Number.isFinite(excess)) return;
    this.#squares += excess * excess;
    this.#scaled += 1;
  }

  /** Returns the e-value that the mean is above the limit (1) or below it (-1). */
  compute(side: 1 | -1): number {
    const signs = side > 0 ? this.#signsUp : this.#signsDown;
    const density = this.#computeDensity();
    const score = this.#sum / Math.sqrt(this.#variance + MIXTURE_PRECISION);
    return (signs + density * computeNormalCdf(side * score)) / 2;
  }

  /** Returns true if the e-value of the side reaches the threshold. Most rounds cannot, even with a Φ of 1, which is slow. */
  reaches(side: 1 | -1, threshold: number): boolean {
    const signs = side > 0 ? this.#signsUp : this.#signsDown;
    return (signs + this.#computeDensity()) / 2 >= threshold && this.compute(side) >= threshold;
  }

  /** Returns the second e-value without its Φ. */
  #computeDensity(): number {
    const precision = this.#variance + MIXTURE_PRECISION;
    return 2 * Math.sqrt(MIXTURE_PRECISION / precision) * Math.exp(this.#sum ** 2 / (2 * precision));
  }
}

/**
 * Decides with an error of at most `errorRate` on each side. `difference` is the one that matters. With `comparesBad` the
 * version must be better than the bad one to be not worse.
 */
export function testWorse(
  rounds: readonly RoundEffects[],
  { difference, comparesBad }: { difference: number; comparesBad: boolean },
  errorRate: number,
): WorseTest {
  const threshold = 1 / errorRate;
  const evidence = { good: new SideEvidence(), difference: new SideEvidence(), bad: new SideEvidence() };
  const round = (excess: number) => (Math.abs(excess) <= ROUNDING * difference ? 0 : excess);
  let [isBelow, isAhead] = [false, !comparesBad];
  for (const [index, { effect, ahead }] of rounds.entries()) {
    evidence.good.add(round(effect));
    evidence.difference.add(round(effect - difference));
    if (ahead !== null) evidence.bad.add(round(ahead));
    isBelow ||= evidence.difference.reaches(-1, threshold);
    isAhead ||= evidence.bad.reaches(-1, threshold);
    const isWorse = evidence.good.reaches(1, threshold);
    if (!isWorse && !(isBelow && isAhead) && index < rounds.length - 1) continue;
    const worse = evidence.good.compute(1);
    const notWorse = Math.min(
      evidence.difference.compute(-1),
      comparesBad ? evidence.bad.compute(-1) : Number.POSITIVE_INFINITY,
    );
    const test = {
      rounds: index + 1,
      e_value: Math.max(worse, notWorse),
      beyond_e_value: evidence.difference.compute(1),
    };
    if (isWorse || (isBelow && isAhead))
      return {
        ...test,
        decision: isWorse && !(isBelow && isAhead && notWorse > worse) ? 'worse' : 'not_worse',
      };
    return { ...test, decision: null };
  }
  return { decision: null, rounds: 0, e_value: 1, beyond_e_value: 1 };
}

/** Returns the smallest number of rounds that can decide: all of them with the same sign. */
export function countRoundsMin(errorRate: number): number {
  return Math.ceil(Math.log(2 / errorRate) / Math.log(1 + BET));
}

/**
 * Returns about how many rounds decide for effects of this standard deviation whose mean is `distance` from the limit. In
 * units of the root mean square the logarithm of the mixture grows by half of the squared mean in a round.
 */
export function estimateRounds(errorRate: number, deviation: number, distance: number): number {
  // By the ratio, because the squares of large numbers overflow.
  const growth = 1 / (2 * (1 + (deviation / distance) ** 2));
  const rounds = Math.ceil(Math.log(4 / errorRate) / growth);
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(countRoundsMin(errorRate), rounds));
}
