/**
 * Analyses the runs of a batch: distributions by groups of runs, and the comparison of every group with the first. Pure. Large
 * batches take seconds, so results-worker-pool.ts runs it in a worker thread.
 */
import type {
  ComparedGroups,
  GroupedSummary,
  Objective,
} from '@switchyard/contract/experiments/experiment-results.ts';
import { compareIndicators } from '../statistics/comparison.ts';
import { summarizeGroups } from '../statistics/grouped-summaries.ts';
import { compareText, type Observation, toUsableNumber } from '../statistics/observations.ts';
import type { GroupOrder } from '../store/batch-definition.ts';
import { indexObjectivesByName } from './objective-names.ts';

/** A request for the results of a batch. */
export interface BatchResultsRequest {
  order: GroupOrder;
  objectives: Readonly<Record<string, Objective>>;
  /** The seed of the resampling: equal requests about equal runs have equal results. */
  seed: string;
}

/** An observation whose indicators are the stored JSON; the worker thread parses it. */
export interface RawObservation extends Omit<Observation, 'indicators'> {
  indicators: string;
  /** The unit of the plan, in a switchback test. */
  unit?: number;
}

/** Parses the indicators of an observation. */
export function parseObservation({
  indicators,
  ...run
}: RawObservation): Observation & Pick<RawObservation, 'unit'> {
  return { ...run, indicators: JSON.parse(indicators) as Observation['indicators'] };
}

/** The fields of a batch experiment's response body that hold its results. */
export interface BatchAnalysis {
  grouped_distributional_summaries: GroupedSummary[];
  comparisons: ComparedGroups[];
  warnings: string[];
}

export const COMPARED_INDICATORS_MAX = 50;
const COMPARISONS_MAX = 1000;

/** Summarises the groups of runs and compares each with the first. */
export function analyseBatch(question: BatchResultsRequest, runs: readonly Observation[]): BatchAnalysis {
  const ordered = sortRuns(question, runs);
  const grouped = summarizeGroups(ordered);
  const compared = compareGroups(question, ordered);
  const left = grouped.omitted_groupings.map((keys) => keys.join(', '));
  return {
    grouped_distributional_summaries: grouped.summaries,
    comparisons: compared.comparisons,
    warnings: [
      ...(left.length === 0
        ? []
        : [`Distributions by ${left.join(' and by ')} are left out: together they would be too many.`]),
      ...(grouped.omitted_indicators === 0
        ? []
        : [`Distributions of ${grouped.omitted_indicators} indicators are left out: there are too many.`]),
      ...compared.warnings,
    ],
  };
}

function sortRuns({ order }: BatchResultsRequest, runs: readonly Observation[]): Observation[] {
  const places = Object.fromEntries(
    Object.entries(order).map(([name, values]) => [name, new Map(values.map((value, at) => [value, at]))]),
  ) as Record<keyof GroupOrder, Map<string, number>>;
  const place = (name: keyof GroupOrder, value: string | null): number =>
    places[name].get(value ?? '') ?? Number.MAX_SAFE_INTEGER;
  const keyed = runs.map((run) => ({
    run,
    key: [
      place('instances', run.instance_id),
      place('versions', run.version_id),
      place('option_sets', run.option_set),
      place('scenarios', run.scenario_id),
      place('inputs', run.input_id),
      run.repetition ?? 0,
    ],
  }));
  return keyed.sort((a, b) => compareKeys(a.key, b.key)).map(({ run }) => run);
}

function compareKeys(a: readonly number[], b: readonly number[]): number {
  for (const [at, value] of a.entries()) if (value !== b[at]) return value - (b[at] ?? 0);
  return 0;
}

function compareGroups(
  { objectives, seed }: BatchResultsRequest,
  runs: readonly Observation[],
): Pick<BatchAnalysis, 'comparisons' | 'warnings'> {
  const groups = new Map<string, Observation[]>();
  for (const run of runs) {
    const key = JSON.stringify([
      run.instance_id,
      run.version_id,
      run.option_set ?? '',
      run.scenario_id ?? '',
    ]);
    const group = groups.get(key);
    if (group) group.push(run);
    else groups.set(key, [run]);
  }
  const [control, ...candidates] = groups.values();
  if (!control || candidates.length === 0) return { comparisons: [], warnings: [] };
  const byName = indexObjectivesByName(objectives);
  const names = listIndicators(runs, byName);
  const each = Math.max(
    1,
    Math.min(COMPARED_INDICATORS_MAX, Math.floor(COMPARISONS_MAX / candidates.length)),
  );
  const compared = new Map(
    names.slice(0, each).map((name): [string, Objective] => [name, byName.get(name) ?? 'minimize']),
  );
  const warnings: string[] = [];
  if (names.length > each)
    warnings.push(
      `Of ${names.length} indicators the first ${each} are compared; those that objectives names come first.`,
    );
  if (candidates.length > COMPARISONS_MAX)
    warnings.push(
      `Of ${candidates.length} groups of runs the first ${COMPARISONS_MAX} are compared with the control.`,
    );
  const comparisons = candidates.slice(0, COMPARISONS_MAX).map((candidate) => ({
    control: formatGroup(control),
    candidate: formatGroup(candidate),
    indicators: compareIndicators(control, candidate, compared, { seed }),
  }));
  return { comparisons, warnings };
}

function formatGroup([run]: readonly Observation[]): ComparedGroups['control'] {
  return {
    instance_id: run?.instance_id ?? '',
    version_id: run?.version_id ?? '',
    ...(run?.option_set ? { option_set: run.option_set } : {}),
    ...(run?.scenario_id ? { scenario_id: run.scenario_id } : {}),
  };
}

/**
 * Indicators with a number in any run: `result.value`, those that are named, then those below `result`, below `run` and the
 * rest, each by name.
 */
export function listIndicators(
  runs: readonly Observation[],
  named: ReadonlyMap<string, Objective>,
): string[] {
  const found = new Set<string>();
  for (const { status, indicators } of runs)
    if (status === 'succeeded')
      for (const { name, value } of indicators) if (toUsableNumber(value) !== null) found.add(name);
  const rank = (name: string): number => {
    if (name === 'result.value') return 0;
    if (named.has(name)) return 1;
    return name.startsWith('result.') ? 2 : name.startsWith('run.') ? 3 : 4;
  };
  return [...found].sort((a, b) => rank(a) - rank(b) || compareText(a, b));
}
