/**
 * The evidence in a race that one of two configurations is worse than the other.
 *
 * If the first configuration is not worse, the effect of the next input is as likely to be -x as +x, or more likely, given
 * all earlier inputs. The effect is divided by the root mean square of the earlier ones and limited to ±4. Before the first
 * effect that is not 0, only its sign counts. Call this value u, and take any λ > 0. The
 * mean of the following factor is at most 1, because f(u) + f(-u) = 2.
 *
 *     f(u) = 2 / (1 + exp(-2λu))
 *
 * The product over the inputs is therefore an e-process: by Ville's
 * inequality it ever reaches 1/α with probability at most α. An average over several λ is one too.
 *
 * The race does not use the test martingale of interim.ts. That one has two sides, and drops the first effect. Among 40
 * configurations it needs 21 inputs to drop one that loses every input by the same ratio, and this one needs 14.
 */
import { logOfSum } from '../numbers.ts';
import type { Measure } from '../paired/units.ts';

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
  /** A power of two by which values are multiplied before differences are taken, so that they cannot overflow. */
  factor: number;
}

/** The effect of one input; positive where the first configuration is worse, infinite where one of them is lost. */
export interface DuelEffect {
  effect: number;
  measure: Measure;
}

/** From this difference between the shares of failed runs on, one configuration has lost the input. */
const LOST_SHARE = 0.5;
const UNIT_LIMIT = 4;
/** Rates of the bets: the small ones find effects below their noise, the large ones find constant effects. */
const RATES = [0.25, 0.5, 1, 2] as const;

/** Returns the effect of one input; null where neither has a number. `isRelative` is true while every earlier value of both configurations was above 0. */
export function computeDuelEffect(
  first: RaceOutcome,
  second: RaceOutcome,
  scale: RaceScale,
  isRelative: boolean,
): DuelEffect | null {
  const { direction, tie_tolerance, shift, factor } = scale;
  const lost = first.failed - second.failed;
  const measure = isRelative ? 'relative' : 'absolute';
  if (Math.abs(lost) >= LOST_SHARE) return { effect: Math.sign(lost) * Number.POSITIVE_INFINITY, measure };
  if (first.value === null || second.value === null) return null;
  const [one, other] = [first.value, second.value];
  const hasRatio = isRelative && one + shift > 0 && other + shift > 0;
  const worse = direction === 'minimize' ? 1 : -1;
  const difference = one * factor - other * factor;
  const isTie = Math.abs(difference) <= tie_tolerance * Math.max(Math.abs(one), Math.abs(other)) * factor;
  const effect = hasRatio ? logOfSum(one, shift) - logOfSum(other, shift) : difference;
  return { effect: isTie ? 0 : worse * effect, measure: hasRatio ? 'relative' : 'absolute' };
}

/** Collects the evidence about two configurations, input by input. */
export class Duel {
  readonly #scale: RaceScale;
  /** By rate: the wealth of the bets that the first configuration is worse, and that the second one is. */
  readonly #firstWorse: number[] = RATES.map(() => 1 / RATES.length);
  readonly #secondWorse: number[] = RATES.map(() => 1 / RATES.length);
  #isRelative: boolean;
  #squares = 0;
  #count = 0;
  /** The e-values that the first configuration is worse than the second one, and the other way round. */
  evidence: readonly [firstWorse: number, secondWorse: number] = [1, 1];

  constructor(scale: RaceScale) {
    this.#scale = scale;
    this.#isRelative = scale.measure === 'relative';
  }

  /** Adds the outcomes of the next input. */
  add(first: RaceOutcome, second: RaceOutcome): void {
    const found = computeDuelEffect(first, second, this.#scale, this.#isRelative);
    if (found === null) return;
    const { effect, measure } = found;
    // Ratios and differences have different units, so the scale of the effects starts again.
    if (this.#isRelative && measure === 'absolute') [this.#squares, this.#count] = [0, 0];
    this.#isRelative = measure === 'relative';
    this.#bet(this.#standardise(effect));
    if (!Number.isFinite(effect)) return;
    this.#squares += effect * effect;
    this.#count += 1;
  }

  #standardise(effect: number): number {
    if (effect === 0) return 0;
    const scale = Math.sqrt(this.#squares / Math.max(1, this.#count));
    if (scale === 0) return Number.isFinite(effect) ? Math.sign(effect) : Math.sign(effect) * UNIT_LIMIT;
    return Math.max(-UNIT_LIMIT, Math.min(UNIT_LIMIT, effect / scale));
  }

  #bet(unit: number): void {
    if (unit === 0) return;
    let [first, second] = [0, 0];
    for (const [index, rate] of RATES.entries()) {
      const factor = 2 / (1 + Math.exp(-2 * rate * unit));
      this.#firstWorse[index] = (this.#firstWorse[index] ?? 0) * factor;
      this.#secondWorse[index] = (this.#secondWorse[index] ?? 0) * (2 - factor);
      first += this.#firstWorse[index] ?? 0;
      second += this.#secondWorse[index] ?? 0;
    }
    this.evidence = [first, second];
  }
}
