/** Computes the results of an experiment of any kind. Pure. */

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
import { type AcceptanceResultsRequest, evaluateAcceptanceTest } from './acceptance-evaluation.ts';
import { analyseBatch } from './batch-analysis.ts';
import { analyseShadowTest, analyseSwitchbackTest, type UnitObservation } from './online-test-analysis.ts';
import { RunReader } from './run-reader.ts';
import { listNamedIndicators, resolveObjective } from './select-indicators.ts';
import {
  type ComparedRequest,
  choosePlannedIndicator,
  estimateSpread,
  readSettings,
  type SpreadRequest,
} from './spread-analysis.ts';

/** A request for the results of an experiment, by its kind, or for the spread that its runs show. */
export type ResultsRequest = ComparedRequest | AcceptanceResultsRequest | SpreadRequest;

/** Results in JSON, and the few fields that the server reads from them: parsing megabytes would delay other requests. */
export interface ComputedResults {
  /** A JSON object without the decision and the method. */
  json: string;
  /** Absent when nothing is compared. */
  decision?: Decision;
  /** The compared groups of a batch. */
  compared?: Pick<ComparedGroups, 'control' | 'candidate'>[];
}

/** Creates a reader that keeps every indicator that the request names. */
export function createRunReader(request: ResultsRequest): RunReader {
  if (request.kind === 'acceptance')
    return new RunReader(request.definition.metrics.flatMap(({ field }) => listIndicatorNames(field)));
  if (request.kind !== 'spread') return new RunReader(listNamedIndicators(readSettings(request)));
  const settings = readSettings(request.of);
  const planned = listIndicatorNames(choosePlannedIndicator(settings, request.indicator));
  return new RunReader([...listNamedIndicators(settings), ...planned]);
}

/** Computes the requested results. */
export function computeResults(
  request: ResultsRequest,
  { runs, isTruncated }: Pick<RunReader, 'runs' | 'isTruncated'>,
): ComputedResults {
  if (request.kind === 'acceptance') return { json: JSON.stringify(evaluateAcceptanceTest(request, runs)) };
  if (request.kind === 'spread') return { json: JSON.stringify(estimateSpread(request, runs)) };
  const { analysis, ...read } = analyse(request, runs);
  if (isTruncated)
    analysis.warnings.push(
      'Indicators that the fewest runs reported are left out: there are too many numbers.',
    );
  return { json: JSON.stringify(analysis), ...read };
}

function analyse(request: ComparedRequest, runs: readonly UnitObservation[]) {
  const settings = readSettings(request);
  if (request.kind === 'shadow') {
    const analysis = analyseShadowTest(request, runs);
    return { analysis, ...decideCompared(settings, analysis.compared) };
  }
  if (request.kind === 'switchback') {
    const analysis = analyseSwitchbackTest(request, runs);
    return { analysis, ...decideSwitchback(request.definition, analysis.compared) };
  }
  const analysis = analyseBatch(request, runs);
  return {
    analysis,
    ...decideCompared(settings, analysis.comparisons),
    compared: analysis.comparisons.map(({ control, candidate }) => ({ control, candidate })),
  };
}

/** Returns the decision about groups of runs as a field of the results; no field when nothing is compared. */
function decideCompared(
  settings: ComparisonSettings,
  compared: readonly ComparedGroups[],
): { decision?: Decision } {
  const decision = decideGroups(compared, ({ indicators }) => listMissing(settings, indicators));
  return decision === undefined ? {} : { decision };
}

/** Returns the decision about the candidate of a switchback test as a field of its results. */
function decideSwitchback(
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
