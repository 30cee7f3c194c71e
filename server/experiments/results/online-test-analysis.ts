/** Analyses the runs of shadow and switchback tests. Pure; results-worker-pool.ts runs it in a worker thread. */
import type {
  ComparedGroups,
  GroupedSummary,
  Objective,
  SwitchbackComparison,
} from '@switchyard/contract/experiments/experiment-results.ts';
import { compareIndicators, createResampler } from '../statistics/comparison.ts';
import { summarizeGroups } from '../statistics/grouped-summaries.ts';
import type { Observation } from '../statistics/observations.ts';
import { compareUnits } from '../statistics/randomization.ts';
import type { ShadowDefinition, SwitchbackDefinition } from '../store/online-test-definitions.ts';
import { COMPARED_INDICATORS_MAX, listIndicators } from './batch-analysis.ts';
import { indexObjectivesByName } from './objective-names.ts';

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
  /** The seed of the resampling: equal runs have equal results. */
  seed: string;
}

/** A request for the results of a switchback test. */
export interface SwitchbackResultsRequest {
  kind: 'switchback';
  definition: SwitchbackDefinition;
  /** The number of units of the plan that have ended. */
  endedUnits: number;
}

/**
 * Compares each candidate with the baseline. Every copy forms a pair with its original, because the input of both is the id
 * of the original.
 */
export function analyseShadowTest(
  { definition: { baseline, candidates, objectives }, seed }: ShadowResultsRequest,
  runs: readonly Observation[],
): OnlineTestAnalysis<ComparedGroups> {
  const { selected, warnings } = selectIndicators(runs, objectives);
  const originals = runs.filter((run) => run.instance_id === baseline);
  const sides = candidates.map((id) => runs.filter((run) => run.instance_id === id));
  const formatGroup = (instance_id: string, side: readonly Observation[]) => ({
    instance_id,
    version_id: side.at(-1)?.version_id ?? '',
  });
  const resampler = createResampler({ seed });
  const { summaries, warnings: summaryWarnings } = summarizeRuns([...originals, ...sides.flat()]);
  return {
    grouped_distributional_summaries: summaries,
    compared: candidates.map((candidate, index) => {
      const copies = sides[index] ?? [];
      return {
        control: formatGroup(baseline, originals),
        candidate: formatGroup(candidate, copies),
        indicators: compareIndicators(originals, copies, selected, { seed, resampler }),
      };
    }),
    warnings: [
      ...warnOfSeveralVersions({ baseline: originals, ...indexRunsByCandidate(candidates, sides) }),
      ...warnings,
      ...summaryWarnings,
    ],
  };
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

/** A run, and in a switchback test the index of its unit of the plan. */
export type UnitObservation = Observation & { unit?: number };

/** A unit of the plan with its runs. */
interface UnitRuns {
  index: number;
  instance_id: string;
  runs: Observation[];
}

/** Compares the candidate with the baseline over the units of the plan that have ended. */
export function analyseSwitchbackTest(
  { definition: { baseline, candidate, units, seed, objectives }, endedUnits }: SwitchbackResultsRequest,
  runs: readonly UnitObservation[],
): OnlineTestAnalysis<SwitchbackComparison> {
  const plan = units
    .slice(0, endedUnits)
    .map((instance_id, index): UnitRuns => ({ index, instance_id, runs: [] }));
  for (const run of runs) plan[run.unit ?? -1]?.runs.push(run);
  const { selected, warnings } = selectIndicators(runs, objectives);
  const { summaries, warnings: summaryWarnings } = summarizeRuns(runs);
  return {
    grouped_distributional_summaries: summaries,
    compared: [...selected].map(([indicator, objective]) =>
      compareUnits(plan, indicator, {
        objective,
        control_instance_id: baseline,
        candidate_instance_id: candidate,
        seed,
      }),
    ),
    warnings: [
      ...(runs.length >= SWITCHBACK_RUNS_MAX
        ? [`These are the numbers of its first ${SWITCHBACK_RUNS_MAX} runs.`]
        : []),
      ...warnOfSeveralVersions({
        baseline: runs.filter((run) => run.instance_id === baseline),
        candidate: runs.filter((run) => run.instance_id === candidate),
      }),
      ...warnings,
      ...summaryWarnings,
    ],
  };
}

function selectIndicators(
  runs: readonly Observation[],
  objectives: Readonly<Record<string, Objective>>,
): { selected: Map<string, Objective>; warnings: string[] } {
  const objectiveByName = indexObjectivesByName(objectives);
  const names = listIndicators(runs, objectiveByName);
  const compared = names.slice(0, COMPARED_INDICATORS_MAX);
  return {
    selected: new Map(compared.map((name) => [name, objectiveByName.get(name) ?? 'minimize'])),
    warnings:
      names.length === compared.length
        ? []
        : [
            `Of ${names.length} indicators the first ${compared.length} are compared; those that objectives names come first.`,
          ],
  };
}

function summarizeRuns(runs: readonly Observation[]): { summaries: GroupedSummary[]; warnings: string[] } {
  const { summaries, omitted_groupings, omitted_indicators } = summarizeGroups(runs);
  const groupings = omitted_groupings.map((keys) => keys.join(', '));
  return {
    summaries,
    warnings: [
      ...(groupings.length === 0
        ? []
        : [`Distributions by ${groupings.join(' and by ')} are left out: together they would be too many.`]),
      ...(omitted_indicators === 0
        ? []
        : [`Distributions of ${omitted_indicators} indicators are left out: there are too many.`]),
    ],
  };
}
