/**
 * Analyses the runs of a batch: distributions by groups of runs, and the comparison of every group with the first. Pure. Large
 * batches take seconds, so results-worker-pool.ts runs it in a worker thread.
 */
import type {
  ComparedGroups,
  GroupedSummary,
  Objective,
} from '@switchyard/contract/experiments/experiment-results.ts';
import { compareIndicators, createResampler } from '../statistics/comparison.ts';
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
  /** In a switchback test, the index of the unit of the plan. */
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
export function analyseBatch(request: BatchResultsRequest, runs: readonly Observation[]): BatchAnalysis {
  const ordered = sortRuns(request, runs);
  const grouped = summarizeGroups(ordered);
  const compared = compareGroups(request, ordered);
  const omitted = grouped.omitted_groupings.map((keys) => keys.join(', '));
  return {
    grouped_distributional_summaries: grouped.summaries,
    comparisons: compared.comparisons,
    warnings: [
      ...(omitted.length === 0
        ? []
        : [`Distributions by ${omitted.join(' and by ')} are left out: together they would be too many.`]),
      ...(grouped.omitted_indicators === 0
        ? []
        : [`Distributions of ${grouped.omitted_indicators} indicators are left out: there are too many.`]),
      ...compared.warnings,
    ],
  };
}

function sortRuns({ order }: BatchResultsRequest, runs: readonly Observation[]): Observation[] {
  const indexValues = (values: readonly string[]) => new Map(values.map((value, index) => [value, index]));
  const ranks: Record<keyof GroupOrder, Map<string, number>> = {
    instances: indexValues(order.instances),
    versions: indexValues(order.versions),
    option_sets: indexValues(order.option_sets),
    scenarios: indexValues(order.scenarios),
    inputs: indexValues(order.inputs),
  };
  const findRank = (name: keyof GroupOrder, value: string | null): number =>
    ranks[name].get(value ?? '') ?? Number.MAX_SAFE_INTEGER;
  const keyed = runs.map((run) => ({
    run,
    key: [
      findRank('instances', run.instance_id),
      findRank('versions', run.version_id),
      findRank('option_sets', run.option_set),
      findRank('scenarios', run.scenario_id),
      findRank('inputs', run.input_id),
      run.repetition ?? 0,
    ],
  }));
  return keyed.sort((a, b) => compareKeys(a.key, b.key)).map(({ run }) => run);
}

function compareKeys(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) if (value !== b[index]) return value - (b[index] ?? 0);
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
  const objectiveByName = indexObjectivesByName(objectives);
  const names = listIndicators(runs, objectiveByName);
  const indicatorsMax = Math.max(
    1,
    Math.min(COMPARED_INDICATORS_MAX, Math.floor(COMPARISONS_MAX / candidates.length)),
  );
  const compared = new Map(
    names
      .slice(0, indicatorsMax)
      .map((name): [string, Objective] => [name, objectiveByName.get(name) ?? 'minimize']),
  );
  const warnings: string[] = [];
  if (names.length > indicatorsMax)
    warnings.push(
      `Of ${names.length} indicators the first ${indicatorsMax} are compared; those that objectives names come first.`,
    );
  if (candidates.length > COMPARISONS_MAX)
    warnings.push(
      `Of ${candidates.length} groups of runs the first ${COMPARISONS_MAX} are compared with the control.`,
    );
  const resampler = createResampler({ seed });
  const comparisons = candidates.slice(0, COMPARISONS_MAX).map((candidate) => ({
    control: formatGroup(control),
    candidate: formatGroup(candidate),
    indicators: compareIndicators(control, candidate, compared, { seed, resampler }),
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
 * Lists the indicators with a number in any succeeded run, in this order: `result.value`, those with an objective, those
 * below `result`, those below `run`, others. Indicators of equal rank are sorted by name.
 */
export function listIndicators(
  runs: readonly Observation[],
  objectiveByName: ReadonlyMap<string, Objective>,
): string[] {
  const names = new Set<string>();
  for (const { status, indicators } of runs)
    if (status === 'succeeded')
      for (const { name, value } of indicators) if (toUsableNumber(value) !== null) names.add(name);
  const computeRank = (name: string): number => {
    if (name === 'result.value') return 0;
    if (objectiveByName.has(name)) return 1;
    return name.startsWith('result.') ? 2 : name.startsWith('run.') ? 3 : 4;
  };
  return [...names].sort((a, b) => computeRank(a) - computeRank(b) || compareText(a, b));
}
