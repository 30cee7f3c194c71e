/**
 * A race between configurations that run the same inputs in the same random order. After each input it drops those that are
 * shown worse than another one, so that only promising configurations run the other inputs.
 *
 * The idea is that of F-race (Birattari, Stützle, Paquete and Varrentrapp, GECCO 2002) and irace (López-Ibáñez et al.,
 * Operations Research Perspectives 2016), which compare with the best configuration so far. Their tests do not control the
 * error over the whole race. Here the error is controlled: the probability that the race drops the truly best configuration
 * is at most 1 - confidence, however many inputs and configurations there are. The best one has the best mean, and no input
 * is lost by more than `largest_loss`.
 *
 * A configuration is dropped when the average of its e-values against all others reaches 1 / (1 - confidence). If it is the
 * best one, each of these e-values belongs to a true null hypothesis. The average of e-values is an e-value under any
 * dependence (Vovk and Wang, Annals of Statistics 2021). It reaches the threshold whenever one of them reaches the threshold
 * of Bonferroni's rule. An e-value against a dropped configuration stays as it was.
 *
 * Control: the first configuration is never dropped, because the results compare every other one with it.
 */

import { MeanBets } from '../betting.ts';
import type { EffectScale } from '../comparison/effect-scale.ts';
import { VERDICT_UNITS_MIN } from '../error-rates.ts';
import { CHANGE_MAX, logOfSum } from '../numbers.ts';
import type { DroppedConfiguration } from './race-plan.ts';

/** Inputs before the first decision: as many as a verdict needs. */
export const RACE_INPUTS_MIN = VERDICT_UNITS_MIN;

/**
 * The largest share by which a configuration loses an input to another one, where nobody declares another. A race has
 * to save runs. With 50 inputs and losses of 4 to 20 %, the wider bound of verdicts would save 1 % of them instead of 13 %.
 */
export const RACE_LARGEST_LOSS = 0.5;

/** The outcomes of every configuration on one input; null for one that did not run it, or whose runs were canceled. */
export type RaceInput = readonly (RaceOutcome | null)[];

interface RaceSettings {
  /** Probability that the race keeps the truly best configuration. */
  confidence: number;
  scale: RaceScale;
  /** Number of configurations. */
  configurations: number;
  /** Number of inputs of the whole race: a drop after the last one saves nothing. */
  inputs: number;
}

/** Decisions that were made before. */
interface RaceHistory {
  dropped: readonly DroppedConfiguration[];
  /** Inputs after which all decisions are known. */
  decided_inputs: number;
}

export interface RaceState {
  dropped: DroppedConfiguration[];
  /** By configuration, after the last input: the evidence that it is not the best. */
  e_values: number[];
}

/** Returns the threshold of the e-values. */
export function computeRaceThreshold(confidence: number): number {
  return 1 / (1 - confidence);
}

/** Runs the race over the inputs in their order. Decisions that were made before stay. */
export function runRace(
  inputs: readonly RaceInput[],
  settings: RaceSettings,
  { dropped, decided_inputs }: RaceHistory,
): RaceState {
  const duels = new Duels(settings);
  const all = [...dropped];
  let running = Array.from({ length: settings.configurations }, (_, index) => index);
  const threshold = computeRaceThreshold(settings.confidence);
  for (const [index, input] of inputs.entries()) {
    const count = index + 1;
    duels.add(running, input);
    if (count > decided_inputs && count >= RACE_INPUTS_MIN && count < settings.inputs)
      for (const configuration of running.slice(1)) {
        const e_value = duels.computeEvidence(configuration);
        if (e_value >= threshold)
          all.push({
            configuration,
            after_inputs: count,
            against: duels.findStrongest(configuration),
            e_value,
          });
      }
    const gone = new Set(
      all.flatMap(({ after_inputs, configuration }) => (after_inputs <= count ? [configuration] : [])),
    );
    running = running.filter((configuration) => !gone.has(configuration));
  }
  const e_values = Array.from({ length: settings.configurations }, (_, index) =>
    duels.computeEvidence(index),
  );
  return { dropped: all, e_values };
}

/** The duels of every pair of configurations. */
class Duels {
  readonly #configurations: number;
  /** By the first configuration, then by the second one, which has the larger index. */
  readonly #duels: Duel[][];

  constructor({ configurations, scale }: RaceSettings) {
    this.#configurations = configurations;
    this.#duels = Array.from({ length: configurations }, (_, first) =>
      Array.from({ length: configurations - first - 1 }, () => new Duel(scale)),
    );
  }

  /** Adds one input to the duels of the configurations, whose indices ascend. */
  add(configurations: readonly number[], input: RaceInput): void {
    for (const [place, first] of configurations.entries())
      for (const second of configurations.slice(place + 1)) {
        const outcomes = [input[first], input[second]];
        const [one, other] = outcomes;
        if (one && other) this.#duels[first]?.[second - first - 1]?.add(one, other);
      }
  }

  /** Returns the e-value that the configuration is worse than the other one. */
  #find(configuration: number, other: number): number {
    return configuration < other
      ? (this.#duels[configuration]?.[other - configuration - 1]?.evidence[0] ?? 1)
      : (this.#duels[other]?.[configuration - other - 1]?.evidence[1] ?? 1);
  }

  /** Returns the e-value that the configuration is not the best. */
  computeEvidence(configuration: number): number {
    let total = 0;
    for (let other = 0; other < this.#configurations; other += 1)
      if (other !== configuration) total += this.#find(configuration, other);
    return total / Math.max(1, this.#configurations - 1);
  }

  /** Returns the configuration with the largest e-value against this one. */
  findStrongest(configuration: number): number {
    let strongest = configuration === 0 ? 1 : 0;
    for (let other = 0; other < this.#configurations; other += 1)
      if (other !== configuration && this.#find(configuration, other) > this.#find(configuration, strongest))
        strongest = other;
    return strongest;
  }
}

/** The outcome of one configuration on one input, over its repetitions. */
export interface RaceOutcome {
  /** Mean of the runs with a number; null without any. */
  value: number | null;
  /** Share of the runs that failed. */
  failed: number;
}

/** The scale on which two configurations are compared. */
export interface RaceScale extends EffectScale {
  direction: 'minimize' | 'maximize';
  /** The largest share by which a configuration may lose an input to another one. */
  largest_loss: number;
}

/** From this difference between the shares of failed runs on, one configuration has lost the input. */
const LOST_SHARE = 0.5;

/**
 * Collects the evidence about two configurations, input by input.
 *
 * The evidence in a race that one of two configurations is worse than the other on average.
 *
 * The change of an input is the share of the first configuration's value by which the second one is better. If the first
 * one is not worse, its mean is at most 0. The bets of betting.ts then reach 1/α with probability at most α, whatever the
 * distribution is. An earlier rule asked for the typical input. Where all others were 1 % better on 95 % of the inputs and 19 %
 * worse on the rest, it dropped the best of five configurations in 85 % of races.
 */
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
