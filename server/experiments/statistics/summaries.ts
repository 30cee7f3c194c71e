/**
 * Distributions of indicators by groups of runs: `grouped_distributional_summaries`.
 *
 * Only runs that succeeded contribute values; the counts include all runs. Groups follow the order of their first run,
 * indicators the order of their names. So the same runs in the same order have the same summaries, whichever ended first.
 */

import type { GroupedSummary } from '@switchyard/contract/experiments/grouped-summaries.ts';
import {
  clamp,
  clampToFinite,
  computeScale,
  interpolatePercentile,
  mean,
  standardDeviation,
} from './numbers.ts';
import { compareText, countRuns, indexIndicators, type Observation, toUsableNumber } from './observations.ts';

type GroupKey = GroupedSummary['group_keys'][number];
type IndicatorCounts = GroupedSummary['indicator_counts'][string];

const READ_KEY: Record<GroupKey, (run: Observation) => string> = {
  inputID: (run) => run.input_id,
  instanceID: (run) => run.instance_id,
  versionID: (run) => run.version_id,
  ensembleID: (run) => run.ensemble_id ?? '',
  optionSetID: (run) => run.option_set ?? '',
  scenarioID: (run) => run.scenario_id ?? '',
};

/** The summaries, and the groupings and indicators that the limit excludes. */
interface GroupedSummaries {
  summaries: GroupedSummary[];
  /** Groupings beyond the limit. */
  omitted_groupings: GroupKey[][];
  /** Number of indicators beyond the limit: those that the fewest runs reported. */
  omitted_indicators: number;
}

/** A distribution is about 800 characters of JSON, so this is about 24 MB: no client can use a larger response. */
const DISTRIBUTIONS_MAX = 30_000;

/**
 * Returns the summaries of all groupings; none for no runs. They contain at most `maximum` distributions. The summaries
 * by instance come first, with as many indicators as fit, then each finer grouping that still fits.
 */
export function summarizeGroups(
  observations: readonly Observation[],
  maximum = DISTRIBUTIONS_MAX,
): GroupedSummaries {
  const runs = observations.map(toRun);
  const [coarsest = [], ...finer] = listGroupings(observations);
  const byInstance = groupBy(runs, coarsest);
  const reports = countReports(runs);
  const named = [...reports.keys()].sort(
    (a, b) => (reports.get(b) ?? 0) - (reports.get(a) ?? 0) || compareText(a, b),
  );
  const names = named
    .slice(0, Math.max(1, Math.floor(maximum / Math.max(1, byInstance.size))))
    .sort(compareText);
  const summaries = [...byInstance.values()].map((group) => summarizeGroup(coarsest, group, names));
  const omitted_groupings: GroupKey[][] = [];
  let distributions = byInstance.size * names.length;
  for (const keys of finer) {
    const groups = groupBy(runs, keys);
    const more = groups.size * names.length;
    if (distributions + more > maximum) omitted_groupings.push(keys);
    else {
      distributions += more;
      for (const group of groups.values()) summaries.push(summarizeGroup(keys, group, names));
    }
  }
  return { summaries, omitted_groupings, omitted_indicators: named.length - names.length };
}

/** Warns of the distributions that the limit excludes. */
export function warnOfOmissions({
  omitted_groupings,
  omitted_indicators,
}: Omit<GroupedSummaries, 'summaries'>): string[] {
  const groupings = omitted_groupings.map((keys) => keys.join(', '));
  return [
    ...(groupings.length === 0
      ? []
      : [`Distributions by ${groupings.join(' and by ')} are left out: together they would be too many.`]),
    ...(omitted_indicators === 0
      ? []
      : [`Distributions of ${omitted_indicators} indicators are left out: there are too many.`]),
  ];
}

/** A run with its reported values by name. */
interface Run {
  observation: Observation;
  values: ReadonlyMap<string, unknown>;
}

function toRun(observation: Observation): Run {
  return { observation, values: indexIndicators(observation) };
}

/** Returns for each indicator the number of successful runs that reported it. */
function countReports(runs: readonly Run[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { observation, values } of runs) {
    if (observation.status !== 'succeeded') continue;
    for (const name of values.keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/**
 * Returns the groupings by instance, and by input and instance, with ensembles, option sets and scenarios where any run has
 * one.
 */
function listGroupings(observations: readonly Observation[]): GroupKey[][] {
  const hasEnsembles = observations.some((run) => READ_KEY.ensembleID(run) !== '');
  const side: GroupKey[] = ['instanceID', 'versionID', ...(hasEnsembles ? ['ensembleID' as const] : [])];
  const optionSets = observations.some((run) => READ_KEY.optionSetID(run) !== '');
  const scenarios = observations.some((run) => READ_KEY.scenarioID(run) !== '');
  const extras: GroupKey[][] = [[]];
  if (optionSets) extras.push(['optionSetID']);
  if (scenarios) extras.push(['scenarioID']);
  if (optionSets && scenarios) extras.push(['optionSetID', 'scenarioID']);
  return extras.flatMap((extra): GroupKey[][] => [
    [...side, ...extra],
    ['inputID', ...side, ...extra],
  ]);
}

function groupBy(runs: readonly Run[], keys: readonly GroupKey[]): Map<string, Run[]> {
  return Map.groupBy(runs, ({ observation }) =>
    JSON.stringify(keys.map((key) => READ_KEY[key](observation))),
  );
}

function summarizeGroup(
  keys: readonly GroupKey[],
  group: readonly Run[],
  names: readonly string[],
): GroupedSummary {
  const counts = countRuns(group.map(({ observation }) => observation));
  const succeeded = group.filter(({ observation }) => observation.status === 'succeeded');
  const distributions: [string, Distribution][] = [];
  const indicatorCounts: [string, IndicatorCounts][] = [];
  for (const name of names) {
    const values = succeeded.filter((run) => run.values.has(name)).map((run) => run.values.get(name));
    if (values.length === 0) continue;
    indicatorCounts.push([name, countValues(values, succeeded.length)]);
    const distribution = summarize(values);
    if (distribution) distributions.push([name, distribution]);
  }
  const [first] = group;
  return {
    group_keys: [...keys],
    group_values: first ? keys.map((key) => READ_KEY[key](first.observation)) : [],
    indicator_keys: distributions.map(([name]) => name),
    indicator_distributions: Object.fromEntries(distributions),
    runs: counts,
    indicator_counts: Object.fromEntries(indicatorCounts),
  };
}

function countValues(values: readonly unknown[], succeeded: number): IndicatorCounts {
  const usable = values.filter((value) => toUsableNumber(value) !== null).length;
  return { usable, unusable: values.length - usable, missing: succeeded - values.length };
}

/** Clients read percentiles in both spellings. */
const PERCENTS = [1, 5, 10, 25, 50, 75, 90, 95, 99] as const;
const LOWER = ['p01', 'p05', 'p10', 'p25', 'p50', 'p75', 'p90', 'p95', 'p99'] as const;
const UPPER = ['P01', 'P05', 'P10', 'P25', 'P50', 'P75', 'P90', 'P95', 'P99'] as const;
/** The keys of percentiles in lower case, in ascending order. */
export const PERCENTILE_KEYS = LOWER;

/** The key of a percentile in lower case. */
export type LowerPercentile = (typeof LOWER)[number];
type Percentiles = Distribution['percentiles'];

/** The distribution of at least one value. */
export type Distribution = GroupedSummary['indicator_distributions'][string];

/** The shift for values that are all above -10. */
export const GEOMETRIC_MEAN_SHIFT = 10;

/** Returns the usable numbers of the values, ascending. */
function sortUsableNumbers(values: readonly unknown[]): Float64Array {
  const numbers = values.map(toUsableNumber).filter((number) => number !== null);
  return Float64Array.from(numbers).sort();
}

/**
 * Returns the distribution of the usable values; null without one.
 *
 * - Only finite numbers count (`toUsableNumber`); without one there is no distribution.
 * - `std` is the sample standard deviation (n - 1), 0 for one value.
 * - Percentiles use linear interpolation (type 7); for one value each is that value.
 * - The shifted geometric mean is exp(mean of ln(x + shift)) - shift. The shift is 10, which is defined for values above
 *   -10. With a smaller value the shift is 1 - smallest, and the result states it. Rounding loses that 1 for magnitudes
 *   beyond 2^53: then smallest + shift is 0 and the mean is the smallest value.
 */
export function summarize(values: readonly unknown[]): Distribution | null {
  const ascending = sortUsableNumbers(values);
  const count = ascending.length;
  const min = ascending[0];
  const max = ascending[count - 1];
  if (min === undefined || max === undefined) return null;
  const scale = computeScale(ascending);
  const scaled = ascending.map((value) => value * scale.factor);
  return {
    min,
    max,
    count,
    mean: clamp(clampToFinite(mean(scaled) * scale.inverse), min, max),
    std: clampToFinite(standardDeviation(scaled) * scale.inverse),
    shifted_geometric_mean: computeShiftedGeometricMean(ascending, min, max),
    percentiles: computePercentiles(ascending),
  };
}

function computePercentiles(ascending: Float64Array): Percentiles {
  const found: Partial<Percentiles> = {};
  PERCENTS.forEach((percent, index) => {
    const value = interpolatePercentile(ascending, percent);
    found[LOWER[index] ?? 'p50'] = value;
    found[UPPER[index] ?? 'P50'] = value;
  });
  return found as Percentiles;
}

function computeShiftedGeometricMean(ascending: Float64Array, min: number, max: number) {
  const shift = min > -GEOMETRIC_MEAN_SHIFT ? GEOMETRIC_MEAN_SHIFT : clampToFinite(1 - min);
  // With log1p and expm1 a mean of small values keeps its digits beside the shift, and x + shift cannot overflow.
  const logs = ascending.map((value) => Math.log1p(value / shift));
  const value = logs[0] === Number.NEGATIVE_INFINITY ? min : shift * Math.expm1(mean(logs));
  return { value: clamp(clampToFinite(value), min, max), shift };
}
