/** Which run of an ensemble is the best, and why: its rules one after the other, and a sentence for each run that goes out. Pure. */
import type {
  EnsembleDecision,
  EnsembleLeftOut,
  EnsembleRule,
  RulesResult,
} from '@switchyard/contract/runs/ensemble-schemas.ts';
import type { Indicator } from '@switchyard/contract/runs/run-reports.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { quoteValue } from '../http/errors/problem.ts';
import { findIndicator } from '../runs/results/indicators.ts';
import type { ChildRun } from '../runs/store/ensemble-runs.ts';
import { parseLabels } from '../runs/store/labels.ts';
import {
  type EnsembleDefinition,
  listRequestedChildRuns,
  parseIndicatorName,
  type RequestedChildRun,
} from './definition.ts';

/** What became of one run that the definition wants. */
export interface ChildOutcome {
  requestedRun: RequestedChildRun;
  /** null when there is no such run. */
  child: ChildRun | null;
  /** Why it was never made; null when it was, or is gone. */
  submitError: string | null;
}

/** The outcomes in the order of groups and repetitions. `refusals` are by position. */
export function collectOutcomes(
  definition: EnsembleDefinition,
  children: readonly ChildRun[],
  refusals: ReadonlyMap<number, string>,
): ChildOutcome[] {
  const key = (group: string | undefined, repetition: number | undefined) => `${repetition} ${group}`;
  const known = new Map(
    children.map((child) => {
      const labels = parseLabels(child);
      return [key(labels.run_group_id, labels.repetition), child];
    }),
  );
  return listRequestedChildRuns(definition).map((requestedRun, position) => ({
    requestedRun,
    child: known.get(key(requestedRun.runGroupId, requestedRun.repetition)) ?? null,
    submitError: refusals.get(position) ?? null,
  }));
}

/** Applies the rules to the runs that succeeded. */
export function selectBestRun({ rules }: EnsembleDefinition, outcomes: readonly ChildOutcome[]): RulesResult {
  const left_out = outcomes.flatMap((outcome): EnsembleLeftOut[] => {
    const why = whyLeftOut(outcome);
    return why === null ? [] : [leftOut(outcome, why)];
  });
  let remaining = outcomes.flatMap(({ child }) =>
    child?.status === 'succeeded' ? [candidateOf(child)] : [],
  );
  if (remaining.length === 0) return { best_run_id: null, decisions: [], left_out };
  const decisions: EnsembleDecision[] = [];
  for (const rule of rules.toSorted((one, other) => one.index - other.index)) {
    const { decision, kept } = apply(rule, remaining);
    decisions.push(decision);
    remaining = kept;
  }
  // What is still as good as each other is in the order of groups and repetitions.
  return { best_run_id: remaining[0]?.id ?? null, decisions, left_out };
}

/** The answer of an ensemble that was canceled: no rule was applied. */
export function buildCanceledResult(outcomes: readonly ChildOutcome[]): RulesResult {
  const left_out = outcomes.map((outcome) => {
    if (outcome.child?.status === 'succeeded')
      return leftOut(outcome, 'It succeeded, but the ensemble was canceled.');
    if (outcome.child === null && outcome.submitError === null)
      return leftOut(outcome, 'The ensemble was canceled before it was made, or it was deleted.');
    return leftOut(outcome, whyLeftOut(outcome) ?? '');
  });
  return { best_run_id: null, decisions: [], left_out };
}

/** Why an ensemble without a best run has failed. */
export function formatFailure({ left_out }: RulesResult): string {
  const [first] = left_out;
  const none =
    left_out.length === 1
      ? 'The only run of the ensemble did not succeed'
      : `None of the ${left_out.length} runs of the ensemble succeeded`;
  if (!first) return `${none}.`;
  return `${none}; ${left_out.length === 1 ? '' : 'of the first: '}${first.why}`;
}

function leftOut({ requestedRun: seat, child }: ChildOutcome, why: string): EnsembleLeftOut {
  return { run_id: child?.id ?? null, run_group_id: seat.runGroupId, repetition: seat.repetition, why };
}

/** null for a run that succeeded. */
function whyLeftOut({ child, submitError: refusal }: ChildOutcome): string | null {
  if (child === null) return refusal === null ? 'It was deleted.' : `It could not be made: ${refusal}`;
  if (child.status === 'succeeded') return null;
  if (child.status === 'canceled') return 'It was canceled.';
  return `It failed: ${child.error}`;
}

interface Candidate {
  id: RunId;
  indicators: ReadonlyMap<string, Indicator['value']>;
  /** Why there are no indicators; empty when there are some. */
  without: string;
}

function candidateOf(child: ChildRun): Candidate {
  const indicators = JSON.parse(child.indicators) as Indicator[];
  const without = {
    none: 'Its output has neither statistics nor metrics.',
    error: `Its statistics do not conform: ${child.statistics_error}`,
    success: '',
  };
  return {
    id: child.id,
    indicators: new Map(indicators.map((one) => [one.name, one.value])),
    without: without[child.statistics_status],
  };
}

/** A number, or why there is none to compare. */
function numberOf({ indicators, without }: Candidate, path: string): number | string {
  const value = findIndicator(indicators, path);
  if (value === undefined) return without || `It does not report ${quoteValue(parseIndicatorName(path))}.`;
  return typeof value === 'number' && Number.isFinite(value)
    ? value
    : `Its value is ${quoteValue(value)}, which is not a number.`;
}

interface Applied {
  decision: EnsembleDecision;
  kept: Candidate[];
}

function apply(rule: EnsembleRule, considered: readonly Candidate[]): Applied {
  const { id: rule_id, index, statistics_path, objective, tolerance } = rule;
  const ids = considered.map((one) => one.id);
  const told = { rule_id, index, statistics_path, objective, tolerance, considered: ids };
  const values = considered.map((one) => numberOf(one, statistics_path));
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length === 0) {
    const skipped = `No run that was left has a number for ${quoteValue(parseIndicatorName(statistics_path))}; the rule drops none.`;
    return { decision: { ...told, best: null, kept: ids, dropped: [], skipped }, kept: [...considered] };
  }
  const best = objective === 'minimize' ? Math.min(...numbers) : Math.max(...numbers);
  const kept: Candidate[] = [];
  const dropped: EnsembleDecision['dropped'] = [];
  for (const [at, candidate] of considered.entries()) {
    const value = values[at] ?? '';
    if (typeof value === 'string') dropped.push({ run_id: candidate.id, value: null, why: value });
    else if (isWithinTolerance(value, best, tolerance)) kept.push(candidate);
    else dropped.push({ run_id: candidate.id, value, why: whyWorse(value, best, rule) });
  }
  return { decision: { ...told, best, kept: kept.map((one) => one.id), dropped }, kept };
}

/**
 * Whether the value is within the tolerance of the best. What the last digits of floating-point numbers add is forgiven:
 * 1.1 is within 10 % of 1, though 1.1 - 1 is more than 0.1 in them. Whole numbers have no such digits.
 */
function isWithinTolerance(value: number, best: number, tolerance: EnsembleRule['tolerance']): boolean {
  if (value === best) return true;
  if (tolerance.value === 0) return false;
  const allowed = tolerance.type === 'absolute' ? tolerance.value : tolerance.value * Math.abs(best);
  const isExact = [value, best, allowed].every(Number.isSafeInteger);
  const rounding = isExact ? 0 : 4 * Number.EPSILON * Math.max(Math.abs(value), Math.abs(best));
  return allowed > 0 && Math.abs(value - best) <= allowed + rounding;
}

function whyWorse(value: number, best: number, { objective, tolerance }: EnsembleRule): string {
  const end = `${best}, the ${objective === 'minimize' ? 'lowest' : 'highest'}.`;
  if (tolerance.value === 0) return `${value} is not ${end}`;
  return tolerance.type === 'absolute'
    ? `${value} is more than ${tolerance.value} away from ${end}`
    : `${value} is more than ${Number((tolerance.value * 100).toPrecision(12))} % away from ${end}`;
}
