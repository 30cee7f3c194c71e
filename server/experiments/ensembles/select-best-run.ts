/** Selects the best run of an ensemble: applies the rules in order and states a reason for each run that a rule drops. Pure. */
import {
  distinguish,
  formatExactPercent,
  formatNumber,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type {
  EnsembleDecision,
  EnsembleLeftOut,
  EnsembleRule,
  RulesResult,
} from '@switchyard/contract/runs/ensemble-schemas.ts';
import type { Indicator } from '@switchyard/contract/runs/run-reports.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { quoteValue } from '../../platform/http/errors/problem.ts';
import { findIndicator } from '../../runs/results/indicators.ts';
import { type EnsembleDefinition, parseIndicators, parseLabels } from '../../runs/run-columns.ts';
import type { ChildRun } from '../../runs/store/ensemble-runs.ts';
import { listRequestedChildRuns, parseIndicatorName, type RequestedChildRun } from './definition.ts';

/** The outcome of one run that the definition requests. */
export interface ChildOutcome {
  requestedRun: RequestedChildRun;
  /** null when the run does not exist: never created, or deleted. */
  child: ChildRun | null;
  /** The reason why its creation failed; null when it was created, also when it is deleted now. */
  submitError: string | null;
}

/** Returns one outcome for each requested run, by run group and repetition. `refusals` maps positions to reasons. */
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

/**
 * Applies the rules, by their index, to the runs that succeeded. `best_run_id` is null when none succeeded. Runs that are
 * still equal after the last rule keep the order of run groups and repetitions, and the first is the best.
 */
export function selectBestRun({ rules }: EnsembleDefinition, outcomes: readonly ChildOutcome[]): RulesResult {
  const left_out = outcomes.flatMap((outcome): EnsembleLeftOut[] => {
    const reason = formatExclusion(outcome);
    return reason === null ? [] : [formatLeftOut(outcome, reason)];
  });
  let remaining = outcomes.flatMap(({ child }) =>
    child?.status === 'succeeded' ? [buildCandidate(child)] : [],
  );
  if (remaining.length === 0) return { best_run_id: null, decisions: [], left_out };
  const decisions: EnsembleDecision[] = [];
  for (const rule of rules.toSorted((one, other) => one.index - other.index)) {
    const { decision, retained } = applyRule(rule, remaining);
    decisions.push(decision);
    remaining = retained;
  }
  return { best_run_id: remaining[0]?.id ?? null, decisions, left_out };
}

/** Returns the result of a canceled ensemble run: it has no best run and no decisions, and leaves out every run. */
export function buildCanceledResult(outcomes: readonly ChildOutcome[]): RulesResult {
  const left_out = outcomes.map((outcome) => {
    if (outcome.child?.status === 'succeeded')
      return formatLeftOut(outcome, 'It succeeded, but the ensemble was canceled.');
    if (outcome.child === null && outcome.submitError === null)
      return formatLeftOut(
        outcome,
        'It did not exist when the ensemble was canceled: not yet created, or deleted.',
      );
    return formatLeftOut(outcome, formatExclusion(outcome) ?? '');
  });
  return { best_run_id: null, decisions: [], left_out };
}

/** Returns the error of an ensemble run without a best run. */
export function formatFailure({ left_out }: RulesResult): string {
  const [first] = left_out;
  const none =
    left_out.length === 1
      ? 'The only run of the ensemble did not succeed'
      : `None of the ${left_out.length} runs of the ensemble succeeded`;
  if (!first) return `${none}.`;
  return `${none}; ${left_out.length === 1 ? '' : 'of the first: '}${first.why}`;
}

function formatLeftOut({ requestedRun, child }: ChildOutcome, reason: string): EnsembleLeftOut {
  const { runGroupId, repetition } = requestedRun;
  return { run_id: child?.id ?? null, run_group_id: runGroupId, repetition, why: reason };
}

/** Returns the reason why no rule considers the run; null for a run that succeeded. */
function formatExclusion({ child, submitError }: ChildOutcome): string | null {
  if (child === null) return submitError === null ? 'It was deleted.' : `Its creation failed: ${submitError}`;
  if (child.status === 'succeeded') return null;
  if (child.status === 'canceled') return 'It was canceled.';
  return `It failed: ${child.error}`;
}

interface Candidate {
  id: RunId;
  indicators: ReadonlyMap<string, Indicator['value']>;
  /** The reason why the run has no indicators; empty when it has some. */
  missingReason: string;
}

function buildCandidate(child: ChildRun): Candidate {
  const indicators = parseIndicators(child);
  const missingReasons = {
    none: 'Its output has neither statistics nor metrics.',
    error: `Its statistics do not conform: ${child.statistics_error}`,
    success: '',
  };
  return {
    id: child.id,
    indicators: new Map(indicators.map((one) => [one.name, one.value])),
    missingReason: missingReasons[child.statistics_status],
  };
}

/** Returns the number that the path names in the run's indicators; null for none. */
export function findRunNumber(child: ChildRun, path: string): number | null {
  const found = findNumber(buildCandidate(child), path);
  return typeof found === 'number' ? found : null;
}

/** Returns the number that the path names, or the reason why the run has none. */
function findNumber({ indicators, missingReason }: Candidate, path: string): number | string {
  const value = findIndicator(indicators, path);
  if (value === undefined)
    return missingReason || `It does not report ${quoteValue(parseIndicatorName(path))}.`;
  return typeof value === 'number' && Number.isFinite(value)
    ? value
    : `Its value is ${quoteValue(value)}, which is not a number.`;
}

interface RuleOutcome {
  decision: EnsembleDecision;
  retained: Candidate[];
}

function applyRule(rule: EnsembleRule, considered: readonly Candidate[]): RuleOutcome {
  const { id: rule_id, index, statistics_path, objective, tolerance } = rule;
  const ids = considered.map((one) => one.id);
  const common = { rule_id, index, statistics_path, objective, tolerance, considered: ids };
  const values = considered.map((one) => findNumber(one, statistics_path));
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length === 0) {
    const skipped = `No remaining run reports a number for ${quoteValue(parseIndicatorName(statistics_path))}; the rule drops none.`;
    return {
      decision: { ...common, best: null, kept: ids, dropped: [], skipped },
      retained: [...considered],
    };
  }
  const best = objective === 'minimize' ? Math.min(...numbers) : Math.max(...numbers);
  const retained: Candidate[] = [];
  const dropped: EnsembleDecision['dropped'] = [];
  for (const [at, candidate] of considered.entries()) {
    const value = values[at] ?? '';
    if (typeof value === 'string') dropped.push({ run_id: candidate.id, value: null, why: value });
    else if (isWithinTolerance(value, best, tolerance)) retained.push(candidate);
    else dropped.push({ run_id: candidate.id, value, why: formatDropReason(value, best, rule) });
  }
  return { decision: { ...common, best, kept: retained.map((one) => one.id), dropped }, retained };
}

/**
 * Returns true when the value is within the tolerance of the best. Rounding of floating-point numbers does not count: 1.1
 * is within 10 % of 1, although 1.1 - 1 is 0.10000000000000009. Whole numbers have no rounding error.
 */
function isWithinTolerance(value: number, best: number, tolerance: EnsembleRule['tolerance']): boolean {
  if (value === best) return true;
  if (tolerance.value === 0) return false;
  const allowed = tolerance.type === 'absolute' ? tolerance.value : tolerance.value * Math.abs(best);
  const isExact = [value, best, allowed].every(Number.isSafeInteger);
  const rounding = isExact ? 0 : 4 * Number.EPSILON * Math.max(Math.abs(value), Math.abs(best));
  return allowed > 0 && Math.abs(value - best) <= allowed + rounding;
}

function formatDropReason(value: number, best: number, { objective, tolerance }: EnsembleRule): string {
  const format = distinguish([value, best], formatNumber);
  const bestText = `${format(best)}, the ${objective === 'minimize' ? 'lowest' : 'highest'}.`;
  if (tolerance.value === 0) return `${format(value)} is not ${bestText}`;
  const distance =
    tolerance.type === 'absolute' ? formatNumber(tolerance.value) : formatExactPercent(tolerance.value);
  return `${format(value)} is more than ${distance} away from ${bestText}`;
}
