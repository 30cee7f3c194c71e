/**
 * Views of the groups of a batch for operations research: virtual best and worst, performance profiles, distribution
 * functions and primal integrals. Pure, and bounded in groups, indicators and points.
 */
import {
  CURVE_POINTS_MAX,
  type IndicatorProfile,
  PROFILE_POINTS_MAX,
  PROFILED_GROUPS_MAX,
  PROFILED_INDICATORS_MAX,
  VIRTUAL_INPUTS_MAX,
} from '@switchyard/contract/experiments/experiment-profiles.ts';
import type { ComparedGroups } from '@switchyard/contract/experiments/experiment-results.ts';
import type { FamilyIndicator } from '../statistics/comparison/pipeline.ts';
import type { Observation } from '../statistics/observations.ts';
import { readOutcome } from '../statistics/paired/units.ts';
import { computeGroupIntegrals, type GroupIntegral } from '../statistics/profiles/anytime.ts';
import {
  type Benchmark,
  buildBenchmark,
  computeDistributionFunctions,
  computePerformanceProfiles,
  computeVirtualGap,
  type GroupedRun,
  type StepFunction,
  summarizeVirtualSolvers,
  thinSteps,
  type VirtualSummary,
} from '../statistics/profiles/benchmark.ts';
import type { ComparisonSettings } from '../store/comparison-settings.ts';
import { replaceFlags, selectIndicators } from './select-indicators.ts';

/** A group of runs with its description in the response. */
export type RunGroup = ComparedGroups['control'] & { runs: readonly Observation[] };

/** The indicator whose incumbents runs report over time. */
const SOLUTION_VALUE = 'result.value';

/** Returns the profiles of each primary indicator, or of `result.value`; none for fewer than two groups. */
export function profileGroups(
  groups: readonly RunGroup[],
  settings: ComparisonSettings,
): { profiles: IndicatorProfile[]; warnings: string[] } {
  if (groups.length < 2) return { profiles: [], warnings: [] };
  const profiled = groups.slice(0, PROFILED_GROUPS_MAX);
  const runs = profiled.flatMap((group) => group.runs);
  const { indicators } = selectIndicators(runs, settings, Number.POSITIVE_INFINITY);
  const primary = indicators.filter(({ role }) => role === 'primary');
  const chosen =
    primary.length > 0 ? primary : indicators.filter(({ indicator }) => indicator === SOLUTION_VALUE);
  const profiles = profileIndicators(profiled, chosen);
  if (profiles.length === 0) return { profiles, warnings: [] };
  return {
    profiles,
    warnings: [
      ...(groups.length > PROFILED_GROUPS_MAX
        ? [`Of ${groups.length} groups of runs the first ${PROFILED_GROUPS_MAX} have profiles.`]
        : []),
      ...(chosen.length > PROFILED_INDICATORS_MAX
        ? [`Of ${chosen.length} primary indicators the first ${PROFILED_INDICATORS_MAX} have profiles.`]
        : []),
    ],
  };
}

/** Returns the profiles of the first indicators that at least two groups report. */
export function profileIndicators(
  groups: readonly RunGroup[],
  indicators: readonly FamilyIndicator[],
): IndicatorProfile[] {
  const selected = indicators.slice(0, PROFILED_INDICATORS_MAX);
  const pointsMax = computePointsMax(groups.length, selected.length);
  return selected.flatMap((indicator) => profileIndicator(groups, indicator, pointsMax) ?? []);
}

/** A group has its profile, its distribution, and two pairwise profiles. */
function computePointsMax(groups: number, indicators: number): number {
  const curves = 4 * groups * Math.max(1, indicators);
  return Math.max(2, Math.min(CURVE_POINTS_MAX, Math.floor(PROFILE_POINTS_MAX / curves)));
}

/** Returns null when fewer than two groups report the indicator, or no input has ended on all of them. */
function profileIndicator(
  groups: readonly RunGroup[],
  settings: FamilyIndicator,
  pointsMax: number,
): IndicatorProfile | null {
  const { indicator, direction } = settings;
  const reporting = groups
    .map((group) => ({ ...group, runs: replaceFlags(group.runs, [settings]) }))
    .filter(({ runs }) => isReported(runs, indicator));
  const keys = reporting.map((_group, index) => `${index}`);
  const runs = reporting.flatMap((group, index) =>
    group.runs.map((run): GroupedRun => ({ group: `${index}`, run })),
  );
  const benchmark = buildBenchmark(runs, keys, indicator);
  if (reporting.length < 2 || benchmark.inputs.size === 0) return null;
  const maximize = direction === 'maximize';
  const summary = summarizeVirtualSolvers(benchmark, maximize);
  const isDirected = direction !== 'none';
  const integrals =
    isDirected && indicator === SOLUTION_VALUE ? computeGroupIntegrals(runs, keys, maximize) : null;
  const curves = drawCurves(benchmark, keys, { direction, pointsMax });
  return {
    indicator,
    objective: direction,
    inputs: {
      total: benchmark.total,
      used: benchmark.inputs.size,
      solved_by_all: summary.solved_by_all,
    },
    virtual_best: isDirected ? summary.best : null,
    virtual_worst: isDirected ? summary.worst : null,
    best_by_input: isDirected ? listBest(summary, benchmark) : [],
    groups: reporting.map(({ runs: _runs, ...group }, index) => ({
      ...group,
      ...describeGap(benchmark, `${index}`, { summary, isDirected }),
      ...(curves[index] ?? { performance: null, pairwise: null, distribution: [] }),
      ...formatIntegral(integrals?.get(`${index}`)),
    })),
  };
}

/** Returns false for a group that succeeds and never reports the indicator: that is no failure. */
function isReported(runs: readonly Observation[], indicator: string): boolean {
  const succeeded = runs.filter(({ status }) => status === 'succeeded');
  return succeeded.length === 0 || succeeded.some((run) => typeof readOutcome(run, indicator) === 'number');
}

type Curves = Pick<IndicatorProfile['groups'][number], 'performance' | 'pairwise' | 'distribution'>;

function drawCurves(
  { values }: Benchmark,
  groups: readonly string[],
  { direction, pointsMax }: { direction: FamilyIndicator['direction']; pointsMax: number },
): Curves[] {
  const maximize = direction === 'maximize';
  const hasRatios = direction !== 'none' && values.every(({ value }) => value === null || value > 0);
  const select = (functions: readonly StepFunction[], group: string | undefined) =>
    thinSteps(functions.find(({ alternative }) => alternative === group)?.points ?? [], pointsMax);
  const distributions = computeDistributionFunctions(values);
  const profiles = hasRatios ? computePerformanceProfiles(values, maximize) : null;
  const [control] = groups;
  return groups.map((group) => {
    const pair = values.filter(({ alternative }) => alternative === group || alternative === control);
    const pairs = hasRatios && group !== control ? computePerformanceProfiles(pair, maximize) : null;
    return {
      performance: profiles && select(profiles, group),
      pairwise: pairs && { candidate: select(pairs, group), control: select(pairs, control) },
      distribution: select(distributions, group),
    };
  });
}

function listBest({ inputs }: VirtualSummary, benchmark: Benchmark): IndicatorProfile['best_by_input'] {
  return inputs.slice(0, VIRTUAL_INPUTS_MAX).map(({ input, best, worst, winners }) => ({
    input_id: benchmark.inputs.get(input) ?? '',
    best,
    worst,
    winners: winners.map(Number),
  }));
}

function describeGap(
  benchmark: Benchmark,
  group: string,
  { summary, isDirected }: { summary: VirtualSummary; isDirected: boolean },
) {
  const { solved_share, wins, gap_to_best, gap_to_worst } = computeVirtualGap(benchmark, group, summary);
  return isDirected
    ? { solved_share, wins, gap_to_best, gap_to_worst }
    : { solved_share, wins: null, gap_to_best: null, gap_to_worst: null };
}

function formatIntegral(integral: GroupIntegral | undefined) {
  return integral === undefined ? {} : { primal_integral: integral };
}
