/**
 * Distributions of indicators by groups of runs: `grouped_distributional_summaries`.
 *
 * Only runs that succeeded give values, all runs are counted. Groups come in the order of their first run, indicators by
 * name, so that the same runs in the same order give the same answer whichever ended first.
 */
import {
  compareText,
  countRuns,
  indexIndicators,
  type Observation,
  type RunCounts,
  toUsableNumber,
} from './observations.ts';
import { type Distribution, summarize } from './summary.ts';

type GroupKey = 'inputID' | 'instanceID' | 'versionID' | 'optionSetID' | 'scenarioID';

/** One group of runs. `group_values` are those of `group_keys`; a run without an option set or scenario has "". */
interface GroupedSummary {
  group_keys: GroupKey[];
  group_values: string[];
  /** Those with at least one usable number in the group. */
  indicator_keys: string[];
  indicator_distributions: Record<string, Distribution>;
  /** How the runs of the group ended. */
  runs: RunCounts;
  /** For every indicator that the group reported at all. */
  indicator_counts: Record<string, IndicatorCounts>;
}

/** Of the runs of a group that succeeded: how many gave a number, something else ("nan", a flag, a text), or nothing. */
interface IndicatorCounts {
  usable: number;
  unusable: number;
  missing: number;
}

const VALUE_OF: Record<GroupKey, (run: Observation) => string> = {
  inputID: (run) => run.input_id,
  instanceID: (run) => run.instance_id,
  versionID: (run) => run.version_id,
  optionSetID: (run) => run.option_set ?? '',
  scenarioID: (run) => run.scenario_id ?? '',
};

/** The summaries, and what would have made them too many. */
export interface GroupedSummaries {
  summaries: GroupedSummary[];
  /** Groupings that are not answered. */
  omitted_groupings: GroupKey[][];
  /** How many indicators are not answered: those that the fewest runs reported. */
  omitted_indicators: number;
}

/** A distribution is about 800 characters of JSON: more than these would be an answer nobody can use. */
const DISTRIBUTIONS_MAX = 30_000;

/**
 * The summaries of the groupings that the runs allow; none for no runs. At most `most` distributions are answered: by
 * instance with as many indicators as that allows, then each finer grouping that still has room.
 */
export function summarizeGroups(
  observations: readonly Observation[],
  most = DISTRIBUTIONS_MAX,
): GroupedSummaries {
  const runs = observations.map(toRun);
  const [coarsest = [], ...finer] = groupingsOf(observations);
  const byInstance = groupBy(runs, coarsest);
  const reports = countReports(runs);
  const named = [...reports.keys()].sort(
    (a, b) => (reports.get(b) ?? 0) - (reports.get(a) ?? 0) || compareText(a, b),
  );
  const names = named
    .slice(0, Math.max(1, Math.floor(most / Math.max(1, byInstance.size))))
    .sort(compareText);
  const summaries = [...byInstance.values()].map((group) => summaryOf(coarsest, group, names));
  const left_out: GroupKey[][] = [];
  let distributions = byInstance.size * names.length;
  for (const keys of finer) {
    const groups = groupBy(runs, keys);
    const more = groups.size * names.length;
    if (distributions + more > most) left_out.push(keys);
    else {
      distributions += more;
      for (const group of groups.values()) summaries.push(summaryOf(keys, group, names));
    }
  }
  return { summaries, omitted_groupings: left_out, omitted_indicators: named.length - names.length };
}

/** A run with what it reported by name; of a name reported twice the last value counts, as in JSON. */
interface Run {
  observation: Observation;
  values: ReadonlyMap<string, unknown>;
}

function toRun(observation: Observation): Run {
  return { observation, values: indexIndicators(observation) };
}

/** By how many runs that succeeded each indicator was reported. */
function countReports(runs: readonly Run[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { observation, values } of runs) {
    if (observation.status !== 'succeeded') continue;
    for (const name of values.keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** Always by instance, and by input and instance; with option sets and scenarios where any run has one. */
function groupingsOf(observations: readonly Observation[]): GroupKey[][] {
  const optionSets = observations.some((run) => VALUE_OF.optionSetID(run) !== '');
  const scenarios = observations.some((run) => VALUE_OF.scenarioID(run) !== '');
  const extras: GroupKey[][] = [[]];
  if (optionSets) extras.push(['optionSetID']);
  if (scenarios) extras.push(['scenarioID']);
  if (optionSets && scenarios) extras.push(['optionSetID', 'scenarioID']);
  return extras.flatMap((extra): GroupKey[][] => [
    ['instanceID', 'versionID', ...extra],
    ['inputID', 'instanceID', 'versionID', ...extra],
  ]);
}

function groupBy(runs: readonly Run[], keys: readonly GroupKey[]): Map<string, Run[]> {
  const groups = new Map<string, Run[]>();
  for (const run of runs) {
    const name = JSON.stringify(keys.map((key) => VALUE_OF[key](run.observation)));
    const group = groups.get(name);
    if (group) group.push(run);
    else groups.set(name, [run]);
  }
  return groups;
}

function summaryOf(
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
    indicatorCounts.push([name, countsOf(values, succeeded.length)]);
    const distribution = summarize(values);
    if (distribution) distributions.push([name, distribution]);
  }
  const [first] = group;
  return {
    group_keys: [...keys],
    group_values: first ? keys.map((key) => VALUE_OF[key](first.observation)) : [],
    indicator_keys: distributions.map(([name]) => name),
    indicator_distributions: Object.fromEntries(distributions),
    runs: counts,
    indicator_counts: Object.fromEntries(indicatorCounts),
  };
}

function countsOf(values: readonly unknown[], succeeded: number): IndicatorCounts {
  const usable = values.filter((value) => toUsableNumber(value) !== null).length;
  return { usable, unusable: values.length - usable, missing: succeeded - values.length };
}
