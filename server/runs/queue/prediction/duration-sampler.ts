/**
 * Draws durations from those of past runs. It assumes that a run and the past runs are exchangeable, and nothing about the
 * shape of the distribution.
 *
 * The duration of a run that has not started is one of the past durations. Each simulation of the queue
 * draws new weights of the past durations (the Bayesian bootstrap of Rubin, Annals of Statistics 9, 1981). Otherwise the error of the
 * mean of few past runs, which all runs of a long queue share, would be missing from the range.
 *
 * A running run has already lasted for some time, so only longer past durations count. The n of them make n + 1 intervals, and
 * the run ends in each with the same probability (Hill, Journal of the American Statistical Association 63, 1968). The last
 * one has no end: there the run has outlived every past run, and its probability to last until t is (longest duration) / t.
 */
import type { RandomGenerator } from '../../../platform/random-generator.ts';

export class DurationSampler {
  /** The past durations in milliseconds, ascending. */
  readonly #past: readonly number[];
  /** The cumulative weights of the past durations, then of the open interval after them. */
  readonly #cumulative: Float64Array;

  /** At least one duration, in milliseconds, in any order. */
  constructor(durations: readonly number[]) {
    this.#past = [...durations].sort((one, other) => one - other);
    this.#cumulative = Float64Array.from({ length: this.#past.length + 1 }, (_, index) => index + 1);
  }

  /** The number of weights. */
  get size(): number {
    return this.#cumulative.length;
  }

  /** Draws new weights of the past durations. */
  drawWeights(random: RandomGenerator): void {
    let sum = 0;
    for (let index = 0; index < this.#cumulative.length; index += 1) {
      sum -= Math.log(random.uniform());
      this.#cumulative[index] = sum;
    }
  }

  /** Returns the duration of a run that has not started, at most `limit`; in milliseconds. */
  drawDuration(random: RandomGenerator, limit: number): number {
    const last = this.#past.length - 1;
    const index = this.#find(random.uniform() * this.#weightUntil(last), 0, last);
    return Math.min(this.#past[index] ?? 0, limit);
  }

  /** Returns the remaining duration of a run that has lasted for `elapsed` of at most `limit` milliseconds. */
  drawRemaining(random: RandomGenerator, elapsed: number, limit: number): number {
    const count = this.#past.length;
    const first = this.#countUntil(elapsed);
    const before = this.#weightUntil(first - 1);
    const target = before + random.uniform() * (this.#weightUntil(count) - before);
    const index = this.#find(target, first, count);
    const start = Math.max(elapsed, this.#past[index - 1] ?? 0);
    const end = this.#past[index];
    const duration =
      end === undefined
        ? Math.max(start, 1) / random.uniform()
        : start + random.uniform() * Math.max(0, end - start);
    return Math.max(0, Math.min(duration, limit) - elapsed);
  }

  #weightUntil(index: number): number {
    return this.#cumulative[index] ?? 0;
  }

  /** Returns the first index from `low` to `high` whose cumulative weight reaches the target. */
  #find(target: number, low: number, high: number): number {
    let [from, to] = [low, high];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#weightUntil(middle) < target) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** Returns the number of past durations of at most `elapsed`. */
  #countUntil(elapsed: number): number {
    const index = this.#past.findIndex((duration) => duration > elapsed);
    return index < 0 ? this.#past.length : index;
  }
}
