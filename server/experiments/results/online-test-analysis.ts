/** Analyses the runs of shadow and switchback tests. Pure; results-worker-pool.ts runs it in a worker thread. */
import type {
  ComparedGroups,
  SwitchbackComparison,
} from '@switchyard/contract/experiments/experiment-results.ts';
import type { GroupedSummary } from '@switchyard/contract/experiments/grouped-summaries.ts';
import { listFieldSources } from '../input-properties/property-sources.ts';
import { warnOfClusters } from '../input-properties/warn-of-clusters.ts';
import { RESAMPLE_COUNT, Resampler } from '../statistics/bootstrap.ts';
import type { Progress } from '../statistics/comparison/verdict.ts';
import type { Observation } from '../statistics/observations.ts';
import { compareFamily, type UnitDesign } from '../statistics/paired/family.ts';
import { CANCELED_SHARE_MAX } from '../statistics/paired/warnings.ts';
import { summarizeGroups, warnOfOmissions } from '../statistics/summaries.ts';
import type { PlanUnit, SwitchbackRun } from '../statistics/switchback/compare.ts';
import { compareSwitchbackFamily } from '../statistics/switchback/family.ts';
import {
  hasDefaultClusterings,
  listOriginalClusterings,
  readSwitchbackDesign,
  type ShadowDefinition,
  type SwitchbackDefinition,
} from '../store/online-test-definitions.ts';
import { listPlanWarnings } from './plan-warnings.ts';
import { replaceFlags, selectIndicators } from './select-indicators.ts';
import { isTimeIndicator } from './time-blockers.ts';

/** The results of a switchback test with more runs use its first ones only. */
export const SWITCHBACK_RUNS_MAX = 50_000;
const LISTED_VERSIONS_MAX = 5;

/** The fields of a test's response body that hold its results. */
export interface OnlineTestAnalysis<Compared> {
  grouped_distributional_summaries: GroupedSummary[];
  compared: Compared[];
  warnings: string[];
}

/** A request for the results of a shadow test. */
export interface ShadowResultsRequest {
  kind: 'shadow';
  definition: ShadowDefinition;
  progress: Progress;
  /** The seed of the resampling: equal runs have equal results. */
  seed: string;
  /** Copies that the test has planned, and those of them that were deleted: neither runs nor planned runs are left. */
  copies: { planned: number; deleted: number };
}

/** A request for the results of a switchback test. */
export interface SwitchbackResultsRequest {
  kind: 'switchback';
  definition: SwitchbackDefinition;
  /** The number of units of the plan that have ended, and of those that ended before the start of the test. */
  endedUnits: number;
  skippedUnits?: number;
  progress: Progress;
}

/**
 * Compares each candidate with the baseline. Every copy forms a pair with its original, because the input of both is the id
 * of the original.
 */
export function analyseShadowTest(
  { definition, seed, progress, copies }: ShadowResultsRequest,
  runs: readonly Observation[],
): OnlineTestAnalysis<ComparedGroups> {
  const { baseline, candidates } = definition;
  const { indicators, warnings } = selectIndicators(runs, definition);
  const { originals, sides } = pairWithOriginals(definition, runs);
  const formatGroup = (instance_id: string, side: readonly Observation[]) => ({
    instance_id,
    version_id: side.at(-1)?.version_id ?? '',
  });
  const comparisons = compareFamily(
    sides.map((candidate) => ({
      control: replaceFlags(originals, indicators),
      candidate: replaceFlags(candidate, indicators),
    })),
    indicators,
    {
      ...designByOriginal(definition),
      progress,
      listIndicatorBlockers: (indicator) => [
        ...explainDeletedCopies(copies),
        ...explainTimeBlocker(indicator),
      ],
      resampler: new Resampler({ seed, resamples: RESAMPLE_COUNT }),
    },
  );
  const grouped = summarizeGroups([...originals, ...sides.flat()]);
  return {
    grouped_distributional_summaries: grouped.summaries,
    compared: candidates.map((candidate, index) => ({
      control: formatGroup(baseline, originals),
      candidate: formatGroup(candidate, sides[index] ?? []),
      indicators: comparisons[index] ?? [],
    })),
    warnings: [
      ...warnOfSeveralVersions({ baseline: originals, ...indexRunsByCandidate(candidates, sides) }),
      ...warnOfFields(definition, originals),
      ...warnings,
      ...warnOfOmissions(grouped),
    ],
  };
}

/** Returns the design of a comparison by original. */
export function designByOriginal(definition: ShadowDefinition): UnitDesign {
  return {
    unit: 'original',
    serial: true,
    clusterings: listOriginalClusterings(definition),
    seeks_relation: hasDefaultClusterings(definition),
  };
}

/** Returns the reason without a verdict when copies were deleted: they leave no trace in the runs. */
function explainDeletedCopies({ planned, deleted }: ShadowResultsRequest['copies']): string[] {
  if (deleted <= CANCELED_SHARE_MAX * planned) return [];
  return [
    `${deleted} of ${planned} copies ${deleted === 1 ? 'was' : 'were'} deleted, or lost ${deleted === 1 ? 'its original' : 'their originals'} before the start; these are not a random choice, so there is no verdict.`,
  ];
}

/** Warns of fields that some originals lack, and of fields with few values. An original whose fields are not read is pending. */
function warnOfFields(definition: ShadowDefinition, originals: readonly Observation[]): string[] {
  const { clusterings } = listFieldSources({ cluster_by: listOriginalClusterings(definition) });
  const read = originals.filter(({ status }) => status !== 'queued');
  return warnOfClusters(
    read.map(({ clusters = {} }) => ({ clusters })),
    clusterings.map(({ name }) => name),
    'original',
  );
}

/** Returns the originals, and for each candidate its copies with the properties of their originals. */
export function pairWithOriginals(
  { baseline, candidates }: Pick<ShadowDefinition, 'baseline' | 'candidates'>,
  runs: readonly Observation[],
): { originals: Observation[]; sides: Observation[][] } {
  const originals = runs.filter((run) => run.instance_id === baseline);
  const sides = candidates.map((id) =>
    copyPositions(
      originals,
      runs.filter((run) => run.instance_id === id),
    ),
  );
  return { originals, sides };
}

/** Returns the copies with the time, the content and the caller of their originals, which are one unit with them. */
function copyPositions(originals: readonly Observation[], copies: readonly Observation[]): Observation[] {
  const byId = new Map(originals.map((run) => [run.input_id, run]));
  return copies.map((copy) => {
    const original = byId.get(copy.input_id);
    if (!original) return copy;
    const { position, content, clusters } = original;
    return {
      ...copy,
      ...(position === undefined ? {} : { position }),
      ...(content === undefined ? {} : { content }),
      ...(clusters === undefined ? {} : { clusters }),
    };
  });
}

/** A copy runs later than its original, at the lowest priority, so their times are not comparable. */
function explainTimeBlocker(indicator: string): string[] {
  return isTimeIndicator(indicator)
    ? [
        'Copies run later than their originals and at the lowest priority, so their times are not comparable; compare times in a batch experiment.',
      ]
    : [];
}

function indexRunsByCandidate(
  candidates: readonly string[],
  sides: readonly (readonly Observation[])[],
): Record<string, readonly Observation[]> {
  return Object.fromEntries(
    candidates.map((id, index) => [`candidate ${JSON.stringify(id)}`, sides[index] ?? []]),
  );
}

/** Warns of sides with several versions: a change of the instance during the test mixes versions in one side. */
function warnOfSeveralVersions(sides: Readonly<Record<string, readonly Observation[]>>): string[] {
  return Object.entries(sides).flatMap(([side, runs]) => {
    const versions = [...new Set(runs.map((run) => run.version_id))].filter((id) => id !== '');
    return versions.length < 2
      ? []
      : [
          `Runs of the ${side} are of ${versions.length} versions, ${versions
            .slice(0, LISTED_VERSIONS_MAX)
            .map((id) => JSON.stringify(id))
            .join(
              ', ',
            )}${versions.length > LISTED_VERSIONS_MAX ? ' and more' : ''}: it was changed while the test went on.`,
        ];
  });
}

/** A run, and in a switchback test the index of its unit of the plan. With `deleted_runs`, so many deleted runs of a unit. */
export type UnitObservation = SwitchbackRun & { unit?: number; deleted_runs?: number };

interface GrowingUnit extends PlanUnit {
  runs: SwitchbackRun[];
  deleted: number;
}

/** Returns the units of the plan that have ended, each with its runs. */
export function buildPlanUnits(
  { definition: { units, candidate }, endedUnits }: SwitchbackResultsRequest,
  runs: readonly UnitObservation[],
): PlanUnit[] {
  const plan = units.slice(0, endedUnits).map(
    (instance_id, index): GrowingUnit => ({
      index,
      isCandidate: instance_id === candidate,
      runs: [],
      deleted: 0,
    }),
  );
  for (const run of runs) {
    const unit = plan[run.unit ?? -1];
    if (unit === undefined) continue;
    if (run.deleted_runs === undefined) unit.runs.push(run);
    else unit.deleted += run.deleted_runs;
  }
  return plan;
}

/** Compares the candidate with the baseline over the units of the plan that have ended. */
export function analyseSwitchbackTest(
  request: SwitchbackResultsRequest,
  observations: readonly UnitObservation[],
): OnlineTestAnalysis<SwitchbackComparison> {
  const { definition, skippedUnits = 0, progress } = request;
  const { baseline, candidate, seed } = definition;
  const runs = observations.filter(({ deleted_runs }) => deleted_runs === undefined);
  const { indicators, warnings } = selectIndicators(runs, definition);
  const plan = buildPlanUnits(request, replaceFlags(observations, indicators));
  const grouped = summarizeGroups(runs);
  return {
    grouped_distributional_summaries: grouped.summaries,
    compared: compareSwitchbackFamily(
      {
        plan,
        design: readSwitchbackDesign(definition),
        burnInMinutes: definition.burnInMinutes ?? 0,
        skippedUnits,
        control_instance_id: baseline,
        candidate_instance_id: candidate,
        progress,
        seed,
      },
      indicators,
    ),
    warnings: [
      ...listPlanWarnings(definition),
      ...(runs.length >= SWITCHBACK_RUNS_MAX
        ? [`These are the numbers of its first ${SWITCHBACK_RUNS_MAX} runs.`]
        : []),
      ...warnOfSeveralVersions({
        baseline: runs.filter((run) => run.instance_id === baseline),
        candidate: runs.filter((run) => run.instance_id === candidate),
      }),
      ...warnings,
      ...warnOfOmissions(grouped),
    ],
  };
}
