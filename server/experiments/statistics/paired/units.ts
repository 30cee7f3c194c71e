/**
 * The units of a paired comparison. A unit is a distinct input content with one effect of the candidate over all of its
 * repetitions.
 *
 * Inputs with the same content are one unit: a caller that sends an input ten times provides one observation, not ten.
 * Counted ten times, they made 50 % of verdicts on equal candidates wrong. The pairs of a unit are averaged before any
 * inference, because repetitions share the peculiarities of the input.
 */

import type { EffectScale } from '../comparison/effect-scale.ts';
import { computeScale, logOfSum, mean } from '../numbers.ts';
import { findLastBlock, type Outcome, type OutcomePair, type PairedInput } from './outcomes.ts';

/** The numbers of both sides in one pair of runs. */
export interface NumberPair {
  control: number;
  candidate: number;
}

/** One distinct input content. */
export interface PairedUnit {
  input_ids: string[];
  position: number;
  /** Last of its randomised blocks; null when a run has none. */
  last_block: number | null;
  clusters: Readonly<Record<string, string>>;
  features: Readonly<Record<string, number | string>>;
  /** `complete`: all pairs have ended; `pending`: some have not; `canceled`: no pair has an outcome on both sides. */
  state: 'complete' | 'pending' | 'canceled';
  /** Pairs in which both sides ended with a number or a failure. */
  pairs: number;
  control_failed: number;
  candidate_failed: number;
  /** Means over the pairs with a number on both sides; null without such a pair. */
  control: number | null;
  candidate: number | null;
  /** `computeEffect` of the two means; 0 when all pairs tie; null without a pair. */
  effect: number | null;
  /** The pairs with a number on both sides, and the effect of each. */
  pair_values: readonly NumberPair[];
  pair_effects: number[];
  /** Magnitude of the difference that a tie hides, on the scale of the effect; 0 without a tie. */
  hidden_effect: number;
}

/** Returns true if ratios exist: every number plus the shift is above 0. A pair of zeros is a tie on any scale. */
export function hasRatios(inputs: readonly PairedInput[], shift = 0): boolean {
  return inputs.every(({ pairs }) =>
    pairs.every(
      ({ control, candidate }) =>
        (control === 0 && candidate === 0) || [control, candidate].every((one) => isPositive(one, shift)),
    ),
  );
}

function isPositive(outcome: Outcome, shift: number): boolean {
  return typeof outcome !== 'number' || outcome + shift > 0;
}

/** Merges inputs by content and computes the effect of each unit, in the order of the plan. */
export function buildUnits(inputs: readonly PairedInput[], scale: EffectScale): PairedUnit[] {
  const groups = new Map<string, PairedInput[]>();
  for (const input of inputs) {
    const key = input.content === null ? `input ${input.input_id}` : `content ${input.content}`;
    const group = groups.get(key);
    if (group) group.push(input);
    else groups.set(key, [input]);
  }
  return [...groups.values()].map((group) => buildUnit(group, scale));
}

function buildUnit(group: readonly PairedInput[], scale: EffectScale): PairedUnit {
  const all = group.flatMap(({ pairs }) => pairs);
  const ended = all.filter(({ control, candidate }) => hasEnded(control) && hasEnded(candidate));
  const valued = ended.flatMap(({ control, candidate }) =>
    typeof control === 'number' && typeof candidate === 'number' ? [{ control, candidate }] : [],
  );
  const isPending = all.some(({ control, candidate }) => control === 'pending' || candidate === 'pending');
  return {
    input_ids: group.map(({ input_id }) => input_id),
    position: Math.min(...group.map(({ position }) => position)),
    last_block: findLastBlock(group.map(({ last_block }) => last_block)),
    clusters: group[0]?.clusters ?? {},
    features: group[0]?.features ?? {},
    state: isPending ? 'pending' : ended.length === 0 ? 'canceled' : 'complete',
    pairs: ended.length,
    control_failed: countFailed(ended, 'control'),
    candidate_failed: countFailed(ended, 'candidate'),
    pair_values: valued,
    ...computeUnitEffect(valued, scale),
  };
}

function hasEnded(outcome: Outcome): boolean {
  return typeof outcome === 'number' || outcome === 'failed';
}

function countFailed(pairs: readonly OutcomePair[], side: 'control' | 'candidate'): number {
  return pairs.filter((pair) => pair[side] === 'failed').length;
}

function computeUnitEffect(
  valued: readonly NumberPair[],
  scale: EffectScale,
): Pick<PairedUnit, 'control' | 'candidate' | 'effect' | 'pair_effects' | 'hidden_effect'> {
  if (valued.length === 0)
    return { control: null, candidate: null, effect: null, pair_effects: [], hidden_effect: 0 };
  const control = computeBoundedMean(valued.map((pair) => pair.control));
  const candidate = computeBoundedMean(valued.map((pair) => pair.candidate));
  const pair_effects = valued.map((pair) => computeEffect(pair.control, pair.candidate, scale));
  const allTie = pair_effects.every((one) => one === 0);
  const effect = allTie ? 0 : computeEffect(control, candidate, scale);
  const exact = computeEffect(control, candidate, { ...scale, tie_tolerance: 0 });
  return { control, candidate, effect, pair_effects, hidden_effect: Math.abs(exact - effect) };
}

/** Returns the mean of numbers whose sum may exceed the largest double. */
export function computeBoundedMean(values: readonly number[]): number {
  const { factor, inverse } = computeScale(values);
  return mean(values.map((value) => value * factor).sort((a, b) => a - b)) * inverse;
}

/**
 * Returns the effect of a candidate's value against a control's; 0 when they tie. For the relative measure it is
 * ln((candidate + shift) / (control + shift)), for the absolute one the difference times `factor`.
 */
function computeEffect(
  control: number,
  candidate: number,
  { measure, tie_tolerance, shift, factor }: EffectScale,
): number {
  const difference = candidate * factor - control * factor;
  const magnitude = Math.max(Math.abs(control), Math.abs(candidate)) * factor;
  if (Math.abs(difference) <= tie_tolerance * magnitude) return 0;
  return measure === 'relative' ? logOfSum(candidate, shift) - logOfSum(control, shift) : difference;
}
