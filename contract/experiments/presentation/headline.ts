/** The verdict of a comparison as one sentence, from its words and numbers alone. */
import { escapeInvisible } from '../../presentation/escape-invisible.ts';
import { type Effect, formatEstimate, formatInterval } from './effects.ts';

interface Headline {
  control: string;
  candidate: string;
  indicator: string;
  verdict: string;
  effect: Effect;
}

/** Returns the sentence, such as `new is better than old in result.value: -7.8 % (95 % interval -11.4 % to -4.6 %).` */
export function formatHeadline({ effect, ...names }: Headline): string {
  // An indicator has any name, and the sentence cannot isolate its characters.
  const statement = escapeInvisible(formatStatement(names));
  if (effect.value === null) return `${statement}.`;
  const interval = formatInterval(effect);
  return `${statement}: ${formatEstimate(effect)}${interval === null ? '' : ` (${effect.isInterim ? 'interval at any look' : '95\u00a0% interval'} ${interval})`}${formatOpenTotal(names.verdict, effect)}.`;
}

/** A verdict on ratios is about the typical input, and a few large inputs decide the total. */
function formatOpenTotal(verdict: string, { isTotalOpen }: Effect): string {
  const hasDirection = ['better', 'worse', 'higher', 'lower'].includes(verdict);
  return isTotalOpen && hasDirection ? ', on the typical input; the total may not be' : '';
}

function formatStatement({ control, candidate, indicator, verdict }: Omit<Headline, 'effect'>): string {
  switch (verdict) {
    case 'better':
    case 'worse':
      return `${candidate} is ${verdict} than ${control} in ${indicator}`;
    case 'higher':
    case 'lower':
      return `${indicator} of ${candidate} is ${verdict} than that of ${control}`;
    case 'equivalent':
      return `${candidate} and ${control} are equivalent in ${indicator}`;
    case 'same':
      return `${candidate} and ${control} tie in ${indicator}`;
    default:
      return `The runs do not decide between ${candidate} and ${control} in ${indicator}`;
  }
}
