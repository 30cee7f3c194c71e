/** The effect of a round on all inputs: positive where the tested version is worse than the good one. */
import type { OutcomePair } from '../paired/outcomes.ts';
import type { RoundOutcome } from './search.ts';

export interface RoundScale {
  measure: 'relative' | 'absolute';
  direction: 'minimize' | 'maximize';
}

/** A relative difference of values that are not all above 0. */
export class NotPositiveError extends Error {}

/**
 * Returns the outcome of a round; the control of each pair is the good version. A round in which the tested version fails on
 * more inputs than the good one is lost. Otherwise the effect is the mean over the inputs that both solved.
 * Throws NotPositiveError for a relative effect of a value of 0 or below.
 */
export function computeRoundEffect(pairs: readonly OutcomePair[], scale: RoundScale): RoundOutcome {
  if (pairs.some(({ control, candidate }) => control === 'pending' || candidate === 'pending'))
    return { state: 'pending' };
  const ended = pairs.filter(({ control, candidate }) => control !== 'canceled' && candidate !== 'canceled');
  const lost = ended.filter(
    ({ control, candidate }) => candidate === 'failed' && control !== 'failed',
  ).length;
  const won = ended.filter(({ control, candidate }) => control === 'failed' && candidate !== 'failed').length;
  if (lost !== won) return { state: 'ended', effect: lost > won ? Infinity : -Infinity };
  const effects = ended.flatMap(({ control, candidate }) =>
    typeof control === 'number' && typeof candidate === 'number'
      ? [computeEffect(control, candidate, scale)]
      : [],
  );
  if (effects.length === 0) return { state: 'ended', effect: null };
  return { state: 'ended', effect: effects.reduce((total, effect) => total + effect / effects.length, 0) };
}

function computeEffect(control: number, candidate: number, { measure, direction }: RoundScale): number {
  if (measure === 'relative' && (control <= 0 || candidate <= 0))
    throw new NotPositiveError(
      `A run reported ${Math.min(control, candidate)}; a relative difference needs values above 0. Give an absolute one.`,
    );
  const effect = measure === 'relative' ? Math.log(candidate) - Math.log(control) : candidate - control;
  return direction === 'minimize' ? effect : -effect;
}
