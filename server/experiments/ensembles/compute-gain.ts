/**
 * The gain of an ensemble run over its best group, by the indicator of its first rule. Pure. A failed run counts as a run
 * without a value, and so does a run without a number of the indicator; canceled and deleted runs do not count.
 */
import type { EnsembleGain, EnsembleRule } from '@switchyard/contract/runs/ensemble-schemas.ts';
import type { EnsembleDefinition } from '../../runs/run-columns.ts';
import { computeBestOfK } from './best-of-k.ts';
import { type ChildOutcome, findRunNumber } from './select-best-run.ts';

interface MemberRun {
  group: string;
  id: string | null;
  /** null for a run that failed, was not created, or has no number of the indicator. */
  value: number | null;
}

/** Returns the gain; null when the best run has no number of the indicator of the first rule. */
export function computeGain(
  { run_groups, rules }: EnsembleDefinition,
  outcomes: readonly ChildOutcome[],
  bestRunId: string | null,
): EnsembleGain | null {
  const [rule] = rules.toSorted((one, other) => one.index - other.index);
  if (!rule) return null;
  const runs = outcomes.flatMap((outcome) => readMember(outcome, rule) ?? []);
  const value = runs.find(({ id }) => id !== null && id === bestRunId)?.value ?? null;
  if (value === null) return null;
  const maximize = rule.objective === 'maximize';
  const values = listValues(runs);
  const groups = describeGroups(
    run_groups.map(({ id }) => id),
    runs,
    maximize,
  );
  const best_group = findBestGroup(groups, maximize);
  const improvement = maximize ? value - best_group.mean : best_group.mean - value;
  return {
    statistics_path: rule.statistics_path,
    objective: rule.objective,
    value,
    best_group,
    improvement,
    relative_improvement: best_group.mean === 0 ? null : improvement / Math.abs(best_group.mean),
    groups,
    best_of_k: computeBestOfK(values, { maximize, failed: runs.length - values.length }),
  };
}

/** Returns null for a run that has no outcome: it was canceled or deleted. */
function readMember(
  { requestedRun, child, submitError }: ChildOutcome,
  rule: EnsembleRule,
): MemberRun | null {
  const group = requestedRun.runGroupId;
  if (child === null) return submitError === null ? null : { group, id: null, value: null };
  if (child.status === 'canceled') return null;
  const value = child.status === 'succeeded' ? findRunNumber(child, rule.statistics_path) : null;
  return { group, id: child.id, value };
}

function listValues(runs: readonly MemberRun[]): number[] {
  return runs.flatMap(({ value }) => (value === null ? [] : [value]));
}

function describeGroups(
  ids: readonly string[],
  runs: readonly MemberRun[],
  maximize: boolean,
): EnsembleGain['groups'] {
  return ids.map((run_group_id) => {
    const own = runs.filter(({ group }) => group === run_group_id);
    const values = listValues(own);
    const isSolved = values.length > 0;
    return {
      run_group_id,
      runs: own.length,
      failed: own.length - values.length,
      mean: isSolved ? values.reduce((total, value) => total + value / values.length, 0) : null,
      best: isSolved ? (maximize ? Math.max(...values) : Math.min(...values)) : null,
    };
  });
}

/** Returns the group with the smallest share of failed runs, and of those the one with the best mean. */
function findBestGroup(groups: EnsembleGain['groups'], maximize: boolean): EnsembleGain['best_group'] {
  const solved = groups.flatMap(({ mean, ...group }) => (mean === null ? [] : [{ ...group, mean }]));
  const [best] = solved.toSorted(
    (a, b) => a.failed / a.runs - b.failed / b.runs || (maximize ? b.mean - a.mean : a.mean - b.mean),
  );
  if (!best) throw new Error('The ensemble has a best run, but no group with a value.');
  return { run_group_id: best.run_group_id, mean: best.mean };
}
