/**
 * The evidence in a race that one of two configurations is worse than the other on average.
 *
 * The change of an input is the share of the first configuration's value by which the second one is better. If the first
 * one is not worse, its mean is at most 0. The bets of mean-bets.ts then reach 1/α with probability at most α, whatever the
 * distribution is. An earlier rule asked for the typical input. Where all others were 1 % better on 95 % of the inputs and 19 %
 * worse on the rest, it dropped the best of five configurations in 85 % of races.
 */

import type { Measure } from '../comparison/effect-scale.ts';
import { MeanBets } from '../mean-bets.ts';
import { CHANGE_MAX, logOfSum } from '../numbers.ts';

/** The outcome of one configuration on one input, over its repetitions. */
export interface RaceOutcome {
  /** Mean of the runs with a number; null without any. */
  value: number | null;
  /** Share of the runs that failed. */
  failed: number;
}

/** The scale on which two configurations are compared. */
export interface RaceScale {
  direction: 'minimize' | 'maximize';
  /** `relative`: by ratios while all values of both are above 0. */
  measure: Measure;
  /** Share of the larger magnitude up to which two values tie. */
  tie_tolerance: number;
  /** Added to every value before a ratio is taken. */
  shift: number;
  /** The largest share by which a configuration may lose an input to another one. */
  largest_loss: number;
  /** A power of two by which values are multiplied before differences are taken, so that they cannot overflow. */
  factor: number;
}

/** From this difference between the shares of failed runs on, one configuration has lost the input. */
const LOST_SHARE = 0.5;

/** Collects the evidence about two configurations, input by input. */
export class Duel {
  readonly #scale: RaceScale;
  readonly #firstWorse: MeanBets;
  readonly #secondWorse: MeanBets;
  #isRelative: boolean;
  /** The largest magnitude of earlier values; differences are shares of it. */
  #largest = 0;

  constructor(scale: RaceScale) {
    this.#scale = scale;
    this.#isRelative = scale.measure === 'relative';
    this.#firstWorse = new MeanBets(scale.largest_loss);
    this.#secondWorse = new MeanBets(scale.largest_loss);
  }

  /** The e-values that the first configuration is worse than the second one, and the other way round. */
  get evidence(): readonly [firstWorse: number, secondWorse: number] {
    return [this.#firstWorse.evidence, this.#secondWorse.evidence];
  }

  /** Adds the outcomes of the next input; an input on which neither has a number says nothing. */
  add(first: RaceOutcome, second: RaceOutcome): void {
    const lost = first.failed - second.failed;
    if (Math.abs(lost) >= LOST_SHARE) this.#bet(Math.sign(lost) * Number.POSITIVE_INFINITY);
    else if (first.value !== null && second.value !== null) this.#compare(first.value, second.value);
  }

  #compare(one: number, other: number): void {
    const { direction, tie_tolerance, shift, factor } = this.#scale;
    this.#isRelative = this.#isRelative && one + shift > 0 && other + shift > 0;
    const worse = direction === 'minimize' ? 1 : -1;
    const difference = (one - other) * factor;
    const magnitude = Math.max(Math.abs(one), Math.abs(other)) * factor;
    if (Math.abs(difference) > tie_tolerance * magnitude) {
      if (this.#isRelative) this.#betRatio(worse * (logOfSum(one, shift) - logOfSum(other, shift)));
      else if (this.#largest > 0) this.#bet((worse * difference) / this.#largest);
    }
    this.#largest = Math.max(this.#largest, magnitude);
  }

  /** Bets on the change that a log ratio is, from the value of each side: a gain of 20 % turns a loss of 25 % around. */
  #betRatio(effect: number): void {
    this.#firstWorse.add(limit(-Math.expm1(-effect)));
    this.#secondWorse.add(limit(-Math.expm1(effect)));
  }

  #bet(change: number): void {
    this.#firstWorse.add(change);
    this.#secondWorse.add(-change);
  }
}

function limit(change: number): number {
  return Math.max(-CHANGE_MAX, change);
}
