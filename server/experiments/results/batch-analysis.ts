/**
 * Analyses the runs of a batch: distributions by groups of runs, and the comparison of every group with the first. Pure. Large
 * batches take seconds, so results-worker-pool.ts runs it in a worker thread.
 */

import type { EnsembleArm } from '@switchyard/contract/experiments/experiment-ensembles.ts';
import type { IndicatorProfile } from '@switchyard/contract/experiments/experiment-profiles.ts';
import type { ComparedGroups } from '@switchyard/contract/experiments/experiment-results.ts';
import type { GroupedSummary } from '@switchyard/contract/experiments/grouped-summaries.ts';
import {
  explainDeletedInputs,
  explainJoinedSides,
  explainMixedSides,
  selectDecidingRuns,
  warnOfJoinedRuns,
} from '../statistics/acceptance/solved-inputs.ts';
import { RESAMPLE_COUNT, Resampler } from '../statistics/bootstrap.ts';
import type { Progress } from '../statistics/comparison/verdict.ts';
import { addInteractions } from '../statistics/features.ts';
import { type Observation, selectExisting } from '../statistics/observations.ts';
import { compareFamily, type FamilyDesign, type UnitDesign } from '../statistics/paired/family.ts';
import { listPlannedInputs, type RacePlan } from '../statistics/racing/race-plan.ts';
import { computeStandings, explainRace, type RaceStandings } from '../statistics/racing/read-race.ts';
import { summarizeGroups, warnOfOmissions } from '../statistics/summaries.ts';
import type { GroupOrder } from '../store/batch-definition.ts';
import { type ComparisonSettings, listClusterings } from '../store/comparison-settings.ts';
import { summarizeEnsemble } from './ensemble-runs.ts';
import { profileGroups } from './profile-groups.ts';
import {
  COMPARED_INDICATORS_MAX,
  replaceFlags,
  resolveObjective,
  selectIndicators,
} from './select-indicators.ts';
import { createTimeBlockers } from './time-blockers.ts';

/** A request for the results of a batch. */
export interface BatchResultsRequest {
  order: GroupOrder;
  settings: ComparisonSettings;
  /** Reasons why the plan cannot give some verdicts; the results begin with them. */
  planWarnings: readonly string[];
  /** The inputs are in the order of their times, so neighbours may resemble each other; false by default. */
  inputs_in_time_order?: boolean;
  progress: Progress;
  /** The race of a scenario test. */
  race?: RacePlan;
  /** The seed of the resampling: equal requests about equal runs have equal results. */
  seed: string;
}

/** The fields of a batch experiment's response body that hold its results. */
export interface BatchAnalysis {
  grouped_distributional_summaries: GroupedSummary[];
  comparisons: ComparedGroups[];
  /** Absent with fewer than two groups, and while no input has ended on all of them. */
  profiles?: IndicatorProfile[];
  /** Absent without ensemble runs that have ended. */
  ensembles?: EnsembleArm[];
  warnings: string[];
}

const COMPARISONS_MAX = 1000;

/** Summarises the groups of runs and compares each with the first. */
export function analyseBatch(request: BatchResultsRequest, runs: readonly Observation[]): BatchAnalysis {
  const all = sortRuns(request, runs);
  const ordered = selectExisting(all);
  const grouped = summarizeGroups(ordered);
  const { race, settings } = request;
  const standings =
    race &&
    computeStandings(race, resolveObjective(settings.objectives?.[race.indicator]), {
      runs: ordered,
      progress: request.progress,
    });
  const compared = compareGroups(request, all, standings);
  const groups = groupRuns(ordered).map((group) => ({ ...formatGroup(group), runs: group }));
  const profiled = profileGroups(
    groups.filter((group) => !isDropped(group.runs, standings)),
    settings,
  );
  const ensembles = groups.flatMap((group) => summarizeEnsemble(group) ?? []);
  // Verdicts come first: the distributions of a large batch are megabytes.
  return {
    comparisons: compared.comparisons,
    warnings: [
      ...request.planWarnings,
      ...(standings?.warnings ?? []),
      ...warnOfOmissions(grouped),
      ...compared.warnings,
      ...profiled.warnings,
    ],
    ...(profiled.profiles.length === 0 ? {} : { profiles: profiled.profiles }),
    ...(ensembles.length === 0 ? {} : { ensembles }),
    grouped_distributional_summaries: grouped.summaries,
  };
}

/** Returns the runs in the order of the groups, with the position of their input. */
export function sortRuns(
  { order }: Pick<BatchResultsRequest, 'order'>,
  runs: readonly Observation[],
): Observation[] {
  const indexValues = (values: readonly string[]) => new Map(values.map((value, index) => [value, index]));
  const ranks: Record<keyof GroupOrder, Map<string, number>> = {
    instances: indexValues(order.instances),
    ensembles: indexValues(order.ensembles ?? ['']),
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
      findRank('ensembles', run.ensemble_id ?? null),
      findRank('versions', run.version_id),
      findRank('option_sets', run.option_set),
      findRank('scenarios', run.scenario_id),
      findRank('inputs', run.input_id),
      run.repetition ?? 0,
    ],
  }));
  return keyed
    .sort((a, b) => compareKeys(a.key, b.key))
    .map(({ run }) => ({ ...run, position: findRank('inputs', run.input_id) }));
}

function compareKeys(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) if (value !== b[index]) return value - (b[index] ?? 0);
  return 0;
}

function compareGroups(
  { order, settings, progress, race, seed, inputs_in_time_order }: BatchResultsRequest,
  runs: readonly Observation[],
  standings: RaceStandings | undefined,
): Pick<BatchAnalysis, 'comparisons' | 'warnings'> {
  const candidateCount = groupRuns(runs).length - 1;
  if (candidateCount < 1) return { comparisons: [], warnings: [] };
  const indicatorsMax = Math.max(
    1,
    Math.min(COMPARED_INDICATORS_MAX, Math.floor(COMPARISONS_MAX / candidateCount)),
  );
  const { indicators, warnings } = selectIndicators(runs, settings, indicatorsMax);
  const deciding = groupRuns(replaceFlags(runs, indicators)).map(selectDecidingRuns);
  const [control = [], ...candidates] = deciding;
  const compared = candidates.slice(0, COMPARISONS_MAX);
  const groups = compared.map((candidate) =>
    isDropped(candidate, standings)
      ? { control: selectBlocks(control, candidate), candidate, progress: 'dropped' as const }
      : { control, candidate },
  );
  const planned = race ? listPlannedInputs(race) : order.inputs;
  const deleted = progress === 'complete' ? explainDeletedInputs(planned, runs) : [];
  const listTimeBlockers = createTimeBlockers();
  const design: FamilyDesign = {
    ...designByInput(settings, inputs_in_time_order),
    progress,
    listIndicatorBlockers: (indicator, group) => [
      ...deleted,
      ...explainJoinedSides(group),
      ...explainMixedSides(group),
      ...listTimeBlockers(indicator, group),
    ],
    resampler: new Resampler({ seed, resamples: RESAMPLE_COUNT }),
  };
  const { features = [] } = settings;
  const comparisons = addInteractions(
    compareFamily(groups, indicators, design),
    { groups, indicators, features },
    design,
  );
  return {
    comparisons: compared.map((candidate, index) => {
      const racing = candidate[0] && standings?.find(candidate[0]);
      const reasons = racing ? explainRace(racing) : [];
      return {
        control: formatGroup(control),
        candidate: formatGroup(candidate),
        ...(racing ? { racing } : {}),
        indicators: (comparisons[index] ?? []).map((one) => ({
          ...one,
          reasons: [...one.reasons, ...reasons],
        })),
      };
    }),
    warnings: [
      ...warnings,
      ...warnOfJoinedRuns(selectExisting(runs), selectExisting(deciding.flat())),
      ...(candidates.length > COMPARISONS_MAX
        ? [
            `Of ${candidates.length} groups of runs the first ${COMPARISONS_MAX} are compared with the control.`,
          ]
        : []),
    ],
  };
}

/** Returns the design of a comparison by input. */
export function designByInput(
  settings: Pick<ComparisonSettings, 'cluster_by'>,
  inputs_in_time_order = false,
): UnitDesign {
  return {
    unit: 'input',
    serial: false,
    possibly_serial: inputs_in_time_order,
    clusterings: listClusterings(settings),
    seeks_relation: settings.cluster_by === undefined,
  };
}

function isDropped([run]: readonly Observation[], standings: RaceStandings | undefined): boolean {
  return run !== undefined && standings?.find(run)?.status === 'dropped';
}

/** Returns the runs of the control in the blocks of a candidate that a race dropped. */
function selectBlocks(control: readonly Observation[], candidate: readonly Observation[]): Observation[] {
  const blocks = new Set(candidate.map(({ block }) => block));
  return control.filter(({ block }) => blocks.has(block));
}

/** Groups runs that differ in nothing but input and repetition, in the order of their first runs. */
export function groupRuns(runs: readonly Observation[]): Observation[][] {
  const formatKey = ({ instance_id, version_id, ensemble_id = '', option_set, scenario_id }: Observation) =>
    JSON.stringify([instance_id, version_id, ensemble_id, option_set ?? '', scenario_id ?? '']);
  return [...Map.groupBy(runs, formatKey).values()];
}

/** Returns what the runs of a group have in common. */
export function formatGroup([run]: readonly Observation[]): ComparedGroups['control'] {
  return {
    instance_id: run?.instance_id ?? '',
    version_id: run?.version_id ?? '',
    ...(run?.ensemble_id ? { ensemble_id: run.ensemble_id } : {}),
    ...(run?.option_set ? { option_set: run.option_set } : {}),
    ...(run?.scenario_id ? { scenario_id: run.scenario_id } : {}),
  };
}
