/** The decision of an experiment as a sentence: a claim, the numbers behind it, and what follows. */
import type { Decision } from '@switchyard/contract/experiments/comparisons/decisions.ts';
import {
  type Effect,
  formatChange,
  formatEnds,
  formatInterval,
  formatPValue,
  formatSize,
} from '@switchyard/contract/experiments/presentation/effects.ts';
import {
  compareEffects,
  rateCandidate,
  rateCandidates,
  type VerdictWord,
} from '@switchyard/contract/experiments/presentation/rate-experiment.ts';
import { describePairs } from '@switchyard/contract/experiments/presentation/rate-pairs.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ComparedView, IndicatorView } from '@switchyard/contract/views/experiment-view.ts';

/** What the page advises: `better` and `worse` also stand for all rules, and for one of several candidates. */
export type VerdictKind = 'better' | 'worse' | 'equivalent' | 'open';

export interface Verdict {
  kind: VerdictKind;
  /** The verdict in a word, as lists have it. */
  word: VerdictWord;
  /** The first sentence, which has the colour. */
  claim: string;
  rest: string;
  follows: readonly string[];
  /** Name of the candidate that the verdict is about, and the indicator that decides; absent for none. */
  candidate?: string;
  indicator?: string;
}

export interface DescribedComparison {
  decision: Decision | undefined;
  compared: readonly ComparedView[];
  isRunning: boolean;
  /** One pair in words. */
  unit: 'input' | 'original' | 'unit';
  nameIndicator: (indicator: string) => string;
}

/** Returns the verdict about the candidates; null before anything can be compared. */
export function describeVerdict(described: DescribedComparison): Verdict | null {
  const { decision, compared, isRunning } = described;
  const [view] = compared;
  if (!decision || !view?.indicators[0]) return null;
  const verdict =
    compared.length > 1 ? describeSeveral(decision, described) : describeOne(decision, view, described);
  if (!isRunning) return verdict;
  const { kind, claim } = verdict;
  return { ...verdict, claim: kind === 'open' ? 'Not decided so far:' : `So far: ${claim}` };
}

const OPEN = { kind: 'open', word: 'undecided', claim: 'Not decided:' } as const;

function describeOne(
  decision: Decision,
  { names, indicators }: ComparedView,
  { unit, nameIndicator }: DescribedComparison,
): Verdict {
  const candidate = escapeInvisible(names.candidate);
  const control = escapeInvisible(names.control);
  const { word, deciding } = rateCandidate(decision, indicators);
  if (!deciding) return { ...OPEN, rest: decision.reason, follows: [] };
  const label = nameIndicator(deciding.indicator);
  const shared = {
    ...{ candidate: names.candidate, indicator: deciding.indicator },
    rest: describeEffect(label, deciding, 'and') || (deciding.reasons[0] ?? ''),
    follows: [...describeTally(deciding, unit), ...describeOthers(indicators, deciding, nameIndicator)],
  };
  if (word === 'better')
    return { ...shared, kind: 'better', word, claim: `${candidate} is better than ${control}.` };
  if (word === 'worse') {
    const where = deciding.role === 'guardrail' ? ` in ${label}, which must not get worse` : '';
    return {
      ...shared,
      ...{ kind: 'worse', word },
      claim: `${candidate} is worse than ${control}${where}.`,
    };
  }
  if (word !== 'undecided') {
    const claim = describeEqual(`${candidate} and ${control}`, '', deciding);
    return { ...shared, kind: 'equivalent', word, claim };
  }
  if (deciding.verdict === 'undecided')
    return {
      ...shared,
      ...OPEN,
      rest:
        deciding.effect.value === 0
          ? `${label} shows no difference so far.`
          : describeEffect(label, deciding, 'but') || `${candidate} and ${control} are not told apart.`,
      follows: [...listDeciders(deciding), ...shared.follows],
    };
  return { ...shared, ...OPEN, rest: decision.reason, follows: [] };
}

/** Returns the claim about sides that do not differ by more than the margin. */
function describeEqual(sides: string, from: string, { verdict, effect: { measure, margin } }: IndicatorView) {
  if (verdict === 'same') return `${sides} are equal on all inputs.`;
  if (margin === null) return `${sides} are equivalent.`;
  return `${sides} differ${from} by less than ${formatSize(measure, margin.high)}.`;
}

/** The reasons that say what would decide it. */
export const DECIDERS = /would decide it|needs at least/;

/** Returns what would decide the comparison, or the first reason why it is not decided. The details have all reasons. */
function listDeciders({ reasons }: IndicatorView): readonly string[] {
  const deciders = reasons.filter((reason) => DECIDERS.test(reason));
  return deciders.length > 0 ? deciders : reasons.slice(0, 1);
}

/** Returns the size of the effect in words: `Cost is 1.3 % lower, and the true change lies between …`. */
function describeEffect(label: string, { effect }: IndicatorView, join: 'and' | 'but'): string {
  const { measure, value } = effect;
  if (value === null) return '';
  const side =
    value === 0 ? 'equal' : `${formatSize(measure, Math.abs(value))} ${value < 0 ? 'lower' : 'higher'}`;
  const [low, high] = formatEnds(effect) ?? [];
  if (low === high) return `${label} is ${side}.`;
  return `${label} is ${side}, ${join} the true change lies between ${low} and ${high}.`;
}

/** Returns why an interval that does not contain 0 decides nothing; undefined for any other comparison. */
export function explainOpen(view: IndicatorView): { short: string; text: string } | undefined {
  const { verdict, effect, reasons, pValue, adjustedPValue } = view;
  const { low, high } = effect;
  if (verdict !== 'undecided' || low === null || high === null || (low <= 0 && high >= 0)) return undefined;
  return {
    short: `p ${formatPValue(pValue)}, corrected ${formatPValue(adjustedPValue)}`,
    text: reasons[0] ?? '',
  };
}

function describeTally(view: IndicatorView, unit: string): string[] {
  const total = view.effect.isTotalOpen ? [`This holds for the typical ${unit}; the total may not be.`] : [];
  return [describePairs(view, unit) ?? [], ...total].flat();
}

/** Returns what the other indicators with a role or a direction say. */
function describeOthers(
  indicators: readonly IndicatorView[],
  deciding: IndicatorView,
  nameIndicator: (indicator: string) => string,
): string[] {
  const others = indicators.filter(
    (one) => one !== deciding && (one.role !== 'other' || one.objective !== 'none'),
  );
  const words = others.map(
    ({ indicator, verdict }) => `${nameIndicator(indicator)} is ${verdict === 'same' ? 'the same' : verdict}`,
  );
  return words.length === 0 ? [] : [`${words.join(', ')}.`];
}

/** The candidates of a scenario test: the best of those that are better, then the others. */
function describeSeveral(decision: Decision, { compared, nameIndicator }: DescribedComparison): Verdict {
  const control = escapeInvisible(compared[0]?.names.control ?? '');
  const all = `${formatNumber(compared.length)} candidates`;
  const { word, released } = rateCandidates(decision, compared);
  if (word === 'none better')
    return {
      ...{ kind: 'worse', word, claim: `None of ${all} is better than ${control}.` },
      ...{ rest: '', follows: [] },
    };
  const firsts = compared.flatMap(({ indicators: [one] }) => one ?? []);
  const widest = firsts.find(({ verdict }) => verdict === 'equivalent') ?? firsts[0];
  if (widest && (word === 'equivalent' || word === 'same')) {
    const sides = compared.length === 2 ? 'Both candidates' : `All ${all}`;
    const claim = describeEqual(sides, ` from ${control}`, widest);
    return { ...{ kind: 'equivalent', word, claim }, rest: '', follows: [] };
  }
  const [best, ...others] = released;
  const [first] = best?.indicators ?? [];
  if (!best || !first)
    return {
      ...OPEN,
      rest: `none of ${all} is shown to be better than ${control}.`,
      follows: describeOpen(compared),
    };
  const name = escapeInvisible(best.names.candidate);
  const label = nameIndicator(first.indicator);
  return {
    kind: 'better',
    word: 'best',
    candidate: best.names.candidate,
    claim:
      others.length === 0
        ? `${name} is the best choice of ${all}.`
        : `${name} has the best result of ${all}.`,
    rest: describeEffect(label, first, 'and'),
    follows: [
      ...others.map(
        ({ names, indicators: [one] }) =>
          `${escapeInvisible(names.candidate)} is better than ${control} too: ${one ? describeChange(one.effect) : ''}. The experiment does not compare it with ${name}.`,
      ),
      ...describeForbidden(compared, best, nameIndicator),
    ],
  };
}

/** Returns how many candidates have each verdict, and what would decide about the open one with the best estimate. */
function describeOpen(compared: readonly ComparedView[]): string[] {
  const firsts = compared.toSorted(compareEffects).flatMap(({ indicators: [one] }) => one ?? []);
  const words = firsts.map(({ verdict }) => verdict);
  const counts = [...new Set(words)].map((word) => `${words.filter((one) => one === word).length} ${word}`);
  const best = firsts.find(({ verdict }) => verdict === 'undecided');
  return [`${counts.join(', ')}.`, ...(best ? listDeciders(best) : [])];
}

/** Names the candidates with a larger change than the best, which a guardrail forbids. */
function describeForbidden(
  compared: readonly ComparedView[],
  best: ComparedView,
  nameIndicator: (indicator: string) => string,
): string[] {
  return compared
    .filter((one) => compareEffects(one, best) < 0)
    .flatMap((one) => {
      const worse = findForbidding(one);
      if (!worse) return [];
      return `${escapeInvisible(one.names.candidate)} has a better result, but is worse in ${nameIndicator(worse.indicator)}, which must not get worse.`;
    });
}

/** Returns the guardrail that forbids a candidate, whatever its change is. */
export function findForbidding({ indicators }: Pick<ComparedView, 'indicators'>): IndicatorView | undefined {
  return indicators.find(({ role, verdict }) => role === 'guardrail' && verdict === 'worse');
}

function describeChange(effect: Effect): string {
  const { measure, value } = effect;
  const interval = formatInterval(effect);
  const change = value === null ? '–' : formatChange(measure, value);
  return interval === null || interval === change ? change : `${change} (${interval})`;
}
