/** Quantiles and tails of distributions, by jstat. Tails are upper tails: the probability of a larger value. */
import jstat from 'jstat';

const { jStat } = jstat;

/** Returns the number below which a standard normal variable is with this probability. */
export function computeNormalQuantile(probability: number): number {
  return jStat.normal.inv(probability, 0, 1);
}

/** Returns the probability that a standard normal variable is at most `value`. */
export function computeNormalCdf(value: number): number {
  return jStat.normal.cdf(value, 0, 1);
}

/** Returns the probability that Student's t is above `t`, which is at least 0. */
export function computeStudentTTail(t: number, degrees: number): number {
  return jStat.ibeta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
}

/** Returns the number below which Student's t is with this probability. */
export function computeStudentTQuantile(probability: number, degrees: number): number {
  return jStat.studentt.inv(probability, degrees);
}

/** Returns the number below which the chi-squared variable is with this probability. */
export function computeChiSquaredQuantile(probability: number, degrees: number): number {
  return jStat.chisquare.inv(probability, degrees);
}

/** Returns the number below which the ratio of two independent variances is with this probability (Snedecor's F). */
export function computeFQuantile(probability: number, numerator: number, denominator: number): number {
  const share = jStat.beta.inv(probability, numerator / 2, denominator / 2);
  return (denominator * share) / (numerator * (1 - share));
}

/** Returns the probability of at least `successes` heads in `tosses` tosses of a fair coin. */
export function computeBinomialUpperTail(successes: number, tosses: number): number {
  return successes <= 0 ? 1 : jStat.ibeta(0.5, successes, tosses - successes + 1);
}

/** Returns one-sided bounds of a share, each with this confidence (Clopper and Pearson, Biometrika 1934). */
export function computeClopperPearson(
  successes: number,
  trials: number,
  confidence: number,
): { low: number; high: number } {
  const low = successes === 0 ? 0 : jStat.beta.inv(1 - confidence, successes, trials - successes + 1);
  const high = successes === trials ? 1 : jStat.beta.inv(confidence, successes + 1, trials - successes);
  return { low, high };
}
