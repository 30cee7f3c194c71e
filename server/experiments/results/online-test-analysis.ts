/** Analyses the runs of shadow and switchback tests. Pure; results-worker-pool.ts runs it in a worker thread. */
import type {
  ComparedGroups,
  GroupedSummary,
  Objective,
  SwitchbackComparison,
} from '@switchyard/contract/experiments/experiment-results.ts';
import { compareIndicators } from '../statistics/comparison.ts';
import { summarizeGroups } from '../statistics/grouped-summaries.ts';
import type { Observation } from '../statistics/observations.ts';
import { compareUnits } from '../statistics/randomization.ts';
import type { ShadowDefinition, SwitchbackDefinition } from '../store/online-test-definitions.ts';
import { COMPARED_INDICATORS_MAX, listIndicators } from './batch-analysis.ts';
import { indexObjectivesByName } from './objective-names.ts';

/** Of a switchback test with more runs, the results are those of its first ones. */
export const SWITCHBACK_RUNS_MAX = 50_000;

/** The fields of a test's response body that hold its results. */
export interface OnlineTestAnalysis<Compared> {
  grouped_distributional_summaries: GroupedSummary[];
  compared: Compared[];
  warnings: string[];
}

export interface ShadowResultsRequest {
  kind: 'shadow';
  definition: ShadowDefinition;
  /** The seed of the resampling: equal runs have equal results. */
  seed: string;
}

export interface SwitchbackResultsRequest {
  kind: 'switchback';
  definition: SwitchbackDefinition;
  /** The number of units of the plan that have ended. */
  endedUnits: number;
}

/** Each candidate against the baseline, every copy with its original: they have the id of the original for an input. */
export function analyseShadowTest(
  { definition: { baseline, candidates, objectives }, seed }: ShadowResultsRequest,
  runs: readonly Observation[],
): OnlineTestAnalysis<ComparedGroups> {
  const { chosen, warnings } = selectIndicators(runs, objectives);
  const originals = runs.filter((run) => run.instance_id === baseline);
  const sides = candidates.map((id) => runs.filter((run) => run.instance_id === id));
  const group = (instance_id: string, own: readonly Observation[]) => ({
    instance_id,
    version_id: own.at(-1)?.version_id ?? '',
  });
  const { summaries, warnings: more } = summarizeRuns([...originals, ...sides.flat()]);
  return {
    grouped_distributional_summaries: summaries,
    compared: candidates.map((candidate, index) => {
      const own = sides[index] ?? [];
      return {
        control: group(baseline, originals),
        candidate: group(candidate, own),
        indicators: compareIndicators(originals, own, chosen, { seed }),
      };
    }),
    warnings: [
      ...warnOfSeveralVersions({ baseline: originals, ...indexRunsByCandidate(candidates, sides) }),
      ...warnings,
      ...more,
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

/** An instance can be given another version while the test goes on: then a side is not one thing. */
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

const LISTED_VERSIONS_MAX = 5;

/** A run with the unit of the plan that it was made in. */
export type UnitObservation = Observation & { unit?: number };

/** The candidate against the baseline over the units of the plan that are over. */
export function analyseSwitchbackTest(
  {
    definition: { baseline, candidate, units, seed, objectives },
    endedUnits: over,
  }: SwitchbackResultsRequest,
  runs: readonly UnitObservation[],
): OnlineTestAnalysis<SwitchbackComparison> {
  const plan = units
    .slice(0, over)
    .map((instance_id, index) => ({ index, instance_id, runs: [] as Observation[] }));
  for (const run of runs) plan[run.unit ?? -1]?.runs.push(run);
  const { chosen, warnings } = selectIndicators(runs, objectives);
  const { summaries, warnings: more } = summarizeRuns(runs);
  return {
    grouped_distributional_summaries: summaries,
    compared: [...chosen].map(([indicator, objective]) =>
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
      ...more,
    ],
  };
}

function selectIndicators(
  runs: readonly Observation[],
  objectives: Readonly<Record<string, Objective>>,
): { chosen: Map<string, Objective>; warnings: string[] } {
  const byName = indexObjectivesByName(objectives);
  const names = listIndicators(runs, byName);
  const compared = names.slice(0, COMPARED_INDICATORS_MAX);
  return {
    chosen: new Map(compared.map((name) => [name, byName.get(name) ?? 'minimize'])),
    warnings:
      names.length === compared.length
        ? []
        : [
            `Of ${names.length} indicators the first ${compared.length} are compared; those that objectives names come first.`,
          ],
  };
}

function summarizeRuns(runs: readonly Observation[]): { summaries: GroupedSummary[]; warnings: string[] } {
  const {
    summaries,
    omitted_groupings: left_out,
    omitted_indicators: indicators_left_out,
  } = summarizeGroups(runs);
  const left = left_out.map((keys) => keys.join(', '));
  return {
    summaries,
    warnings: [
      ...(left.length === 0
        ? []
        : [`Distributions by ${left.join(' and by ')} are left out: together they would be too many.`]),
      ...(indicators_left_out === 0
        ? []
        : [`Distributions of ${indicators_left_out} indicators are left out: there are too many.`]),
    ],
  };
}
