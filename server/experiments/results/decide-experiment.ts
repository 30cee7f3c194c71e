/** Decides whether the candidate of an experiment can be released. Pure: worker threads load it. */
import type { Decision } from '@switchyard/contract/experiments/comparisons/decisions.ts';
import type {
  ComparedGroups,
  SwitchbackComparison,
} from '@switchyard/contract/experiments/experiment-results.ts';
import {
  decideGroups,
  decideSides,
  type MissingIndicators,
} from '@switchyard/contract/experiments/presentation/decide-release.ts';
import { listIndicatorNames } from '../../runs/results/indicators.ts';
import type { ComparisonSettings } from '../store/comparison-settings.ts';
import type { SwitchbackDefinition } from '../store/online-test-definitions.ts';
import { resolveObjective } from './select-indicators.ts';

/** Returns the decision about groups of runs as a field of the results; no field when nothing is compared. */
export function decideCompared(
  settings: ComparisonSettings,
  compared: readonly ComparedGroups[],
): { decision?: Decision } {
  const decision = decideGroups(compared, ({ indicators }) => listMissing(settings, indicators));
  return decision === undefined ? {} : { decision };
}

/** Returns the decision about the candidate of a switchback test as a field of its results. */
export function decideSwitchback(
  settings: SwitchbackDefinition,
  indicators: readonly SwitchbackComparison[],
): { decision?: Decision } {
  if (indicators.length === 0) return {};
  const names = { control: settings.baseline, candidate: settings.candidate };
  return { decision: decideSides({ names, indicators }, listMissing(settings, indicators)) };
}

/** Lists the primary indicators and the guardrails that no comparison has. Without a named one, all objectives are primary. */
function listMissing(
  { primary, guardrails = [], objectives }: ComparisonSettings,
  compared: readonly { indicator: string }[],
): MissingIndicators {
  const known = new Set(compared.map(({ indicator }) => indicator));
  const isMissing = ({ indicator }: { indicator: string }): boolean =>
    ![indicator, ...listIndicatorNames(indicator)].some((name) => known.has(name));
  const directed = Object.entries(objectives ?? {})
    .filter(([name, one]) => resolveObjective(one).direction !== 'none' && !guardrails.includes(name))
    .map(([name]) => name);
  const primaries = primary === undefined ? directed : [primary];
  return [
    ...primaries.map((indicator) => ({ indicator, role: 'primary' as const })),
    ...guardrails.map((indicator) => ({ indicator, role: 'guardrail' as const })),
  ].filter(isMissing);
}
