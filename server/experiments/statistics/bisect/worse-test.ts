/**
 * A sequential test that decides on which side of a limit the mean effect of a version is. It may be read after every
 * round. It decides at last with probability 1, unless the effect is the limit itself. That is a test of power one, as in
 * Waeber, Frazier and Henderson (SIAM Journal on Control and Optimization 2013).
 *
 * Let x be the effect of a round minus the limit. If the version is not worse, x is as likely to be above any amount as
 * below its negative, or less. Then two e-values have a mean of at most 1 at any stop, without a condition on moments.
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

/** Share of the capital that the first e-value bets on a sign. */
const BET = 0.9;
const MIXTURE_PRECISION = 8;
const UNIT_LIMIT = 4;

/** The state of the test after some rounds. */
export interface WorseTest {
  /** Null while the rounds do not decide. */
  decision: 'worse' | 'not_worse' | null;
  /** Rounds up to the decision, or all of them. */
  rounds: number;
  /** The larger of both e-values after these rounds. */
  e_value: number;
}

/** Decides with an error of at most `errorRate` on each side. An effect of Infinity is a round that the version lost. */
export function testWorse(effects: readonly number[], limit: number, errorRate: number): WorseTest {
  const threshold = 1 / errorRate;
  let [signsUp, signsDown, sum, variance, squares, scaled] = [1, 1, 0, 0, 0, 0];
  let eValue = 1;
  for (const [index, effect] of effects.entries()) {
    const excess = effect - limit;
    signsUp *= 1 + BET * Math.sign(excess);
    signsDown *= 1 - BET * Math.sign(excess);
    // The scale is that of earlier rounds alone: a scale that knows this round would not leave the sum fair.
    const scale = Math.sqrt(squares / Math.max(1, scaled));
    if (scale > 0) {
      const unit = Math.max(-UNIT_LIMIT, Math.min(UNIT_LIMIT, excess / scale));
      sum += unit;
      variance += unit * unit;
    }
    if (Number.isFinite(excess)) {
      squares += excess * excess;
      scaled += 1;
    }
    const up = (signsUp + mixHalfNormal(sum, variance)) / 2;
    const down = (signsDown + mixHalfNormal(-sum, variance)) / 2;
    eValue = Math.max(up, down);
    if (eValue >= threshold)
      return { decision: up > down ? 'worse' : 'not_worse', rounds: index + 1, e_value: eValue };
  }
  return { decision: null, rounds: effects.length, e_value: eValue };
}

function mixHalfNormal(sum: number, variance: number): number {
  const precision = variance + MIXTURE_PRECISION;
  const density = Math.sqrt(MIXTURE_PRECISION / precision) * Math.exp((sum * sum) / (2 * precision));
  return 2 * density * computeNormalCdf(sum / Math.sqrt(precision));
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
