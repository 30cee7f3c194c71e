/** The verdict of an experiment in a word. Its page makes sentences of it, and lists show it as it is. Pure. */
import type { BisectExperiment } from '../bisect/bisect-experiments.ts';
import type { Decision } from '../comparisons/decisions.ts';
import type { Comparison } from '../experiment-results.ts';

/** Verdicts of all types of experiments. */
export const VERDICT_WORDS = [
  ...(['better', 'best', 'equivalent', 'same', 'worse', 'none better', 'undecided'] as const),
  ...(['accepted', 'not accepted', 'cannot say'] as const),
  ...(['found', 'narrowed', 'not distinguishable', 'stopped', 'failed'] as const),
] as const;
export type VerdictWord = (typeof VERDICT_WORDS)[number];

/** A compared indicator, as far as the verdict depends on it. */
export interface RatedIndicator extends Pick<Comparison, 'indicator' | 'objective'> {
  verdict: string;
  effect: { value: number | null };
}

/** A candidate with its indicators; the first one decides. */
export interface RatedSides {
  names: { candidate: string };
  indicators: readonly RatedIndicator[];
}

const ROLE_ORDER = ['primary', 'guardrail', 'other'];

/** Returns the comparisons with those that decide first. */
export function sortByRole<Compared extends Pick<Comparison, 'role'>>(
  comparisons: readonly Compared[],
): Compared[] {
  return comparisons.toSorted((one, other) => ROLE_ORDER.indexOf(one.role) - ROLE_ORDER.indexOf(other.role));
}

/** Returns the verdict about one candidate, and the indicator that it is about. */
export function rateCandidate<View extends RatedIndicator>(
  { release, because_of: [cause] }: Decision,
  indicators: readonly View[],
): { word: VerdictWord; deciding: View | undefined } {
  const causing = indicators.find(({ indicator }) => indicator === cause?.indicator);
  const deciding = (release === 'no' && causing) || indicators[0];
  if (!deciding) return { word: 'undecided', deciding };
  if (release !== 'undecided') return { word: release === 'yes' ? 'better' : 'worse', deciding };
  return { word: findEqual(deciding) ?? 'undecided', deciding };
}

/** Returns the verdict about several candidates, and those that can be released, the best first. */
export function rateCandidates<Sides extends RatedSides>(
  { release, because_of }: Decision,
  compared: readonly Sides[],
): { word: VerdictWord; released: readonly Sides[] } {
  if (release === 'no') return { word: 'none better', released: [] };
  const equal = compared.map(({ indicators: [first] }) => first && findEqual(first));
  if (!equal.includes(undefined))
    return { word: equal.includes('equivalent') ? 'equivalent' : 'same', released: [] };
  const named = new Set(because_of.map(({ candidate }) => candidate));
  const released =
    release === 'yes'
      ? compared.filter(({ names }) => named.has(names.candidate)).toSorted(compareEffects)
      : [];
  return { word: released[0]?.indicators[0] ? 'best' : 'undecided', released };
}

function findEqual({ verdict }: RatedIndicator): 'equivalent' | 'same' | undefined {
  return verdict === 'equivalent' || verdict === 'same' ? verdict : undefined;
}

/** Orders candidates by their estimate in the first indicator, best first. */
export function compareEffects(one: RatedSides, other: RatedSides): number {
  const [first] = one.indicators;
  const factor = first?.objective === 'maximize' ? -1 : 1;
  const read = ({ indicators }: RatedSides): number =>
    (indicators[0]?.effect.value ?? Number.POSITIVE_INFINITY * factor) * factor;
  return read(one) - read(other);
}

const RULE_VERDICTS = { yes: 'accepted', no: 'not accepted', undecided: 'cannot say' } as const;

/** Returns the verdict about the rules of an acceptance test. */
export function rateRules({ release }: Decision): VerdictWord {
  return RULE_VERDICTS[release];
}

const SEARCH_VERDICTS = {
  found: 'found',
  narrowed: 'narrowed',
  not_distinguishable: 'not distinguishable',
  stopped: 'stopped',
  failed: 'failed',
  running: 'undecided',
} as const satisfies Record<BisectExperiment['verdict'], VerdictWord>;

/** Returns the verdict of a search for the version that made an indicator worse. */
export function rateSearch({ verdict }: Pick<BisectExperiment, 'verdict'>): VerdictWord {
  return SEARCH_VERDICTS[verdict];
}
