/**
 * What the runs of an experiment say: distributions by groups of them, and every group against the first. Pure; it takes
 * seconds where there is much of it, so findings.ts asks for it in a thread.
 */
import type { ComparedGroups, GroupedSummary, Objective } from '@switchyard/contract/experiment-results.ts';
import { objectivesByName } from './objective-names.ts';
import { compareAll } from './statistics/comparison.ts';
import { groupedSummaries } from './statistics/grouped.ts';
import { byText, type Observation, usableNumber } from './statistics/observations.ts';

/** What is asked of the runs. */
export interface Question {
  /** What comes first, in each of these; what is not named comes after, as the runs do. The first group is the control. */
  order: Readonly<
    Record<'instances' | 'versions' | 'option_sets' | 'scenarios' | 'inputs', readonly string[]>
  >;
  objectives: Readonly<Record<string, Objective>>;
  /** Of the resampling: the same question about the same runs has the same answer. */
  seed: string;
}

/** An observation whose indicators are still the JSON that the run keeps: whoever looks at them reads it. */
export interface Unread extends Omit<Observation, 'indicators'> {
  indicators: string;
  /** Of a switchback test: the unit of its plan. */
  unit?: number;
}

export function read({ indicators, ...run }: Unread): Observation & Pick<Unread, 'unit'> {
  return { ...run, indicators: JSON.parse(indicators) as Observation['indicators'] };
}

/** Fields of the answer that an experiment gives. */
export interface Findings {
  grouped_distributional_summaries: GroupedSummary[];
  comparisons: ComparedGroups[];
  warnings: string[];
}

export const INDICATORS_COMPARED = 50;
export const COMPARISONS_MAX = 1000;

export function analyse(question: Question, runs: readonly Observation[]): Findings {
  const ordered = inOrder(question, runs);
  const grouped = groupedSummaries(ordered);
  const compared = comparisonsOf(question, ordered);
  const left = grouped.left_out.map((keys) => keys.join(', '));
  return {
    grouped_distributional_summaries: grouped.summaries,
    comparisons: compared.comparisons,
    warnings: [
      ...(left.length === 0
        ? []
        : [`Distributions by ${left.join(' and by ')} are left out: together they would be too many.`]),
      ...(grouped.indicators_left_out === 0
        ? []
        : [`Distributions of ${grouped.indicators_left_out} indicators are left out: there are too many.`]),
      ...compared.warnings,
    ],
  };
}

function inOrder({ order }: Question, runs: readonly Observation[]): Observation[] {
  const places = Object.fromEntries(
    Object.entries(order).map(([name, values]) => [name, new Map(values.map((value, at) => [value, at]))]),
  ) as Record<keyof Question['order'], Map<string, number>>;
  const place = (name: keyof Question['order'], value: string | null): number =>
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

function comparisonsOf(
  { objectives, seed }: Question,
  runs: readonly Observation[],
): Pick<Findings, 'comparisons' | 'warnings'> {
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
  const byName = objectivesByName(objectives);
  const names = indicatorsOf(runs, byName);
  const each = Math.max(1, Math.min(INDICATORS_COMPARED, Math.floor(COMPARISONS_MAX / candidates.length)));
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
    control: groupOf(control),
    candidate: groupOf(candidate),
    indicators: compareAll(control, candidate, compared, { seed }),
  }));
  return { comparisons, warnings };
}

function groupOf([run]: readonly Observation[]): ComparedGroups['control'] {
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
export function indicatorsOf(runs: readonly Observation[], named: ReadonlyMap<string, Objective>): string[] {
  const found = new Set<string>();
  for (const { status, indicators } of runs)
    if (status === 'succeeded')
      for (const { name, value } of indicators) if (usableNumber(value) !== null) found.add(name);
  const rank = (name: string): number => {
    if (name === 'result.value') return 0;
    if (named.has(name)) return 1;
    return name.startsWith('result.') ? 2 : name.startsWith('run.') ? 3 : 4;
  };
  return [...found].sort((a, b) => rank(a) - rank(b) || byText(a, b));
}
