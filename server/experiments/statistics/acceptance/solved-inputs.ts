/**
 * The values that the rules of an acceptance test compare, and the inputs that the candidate lost.
 *
 * Both sides are compared over the same inputs: over the pairs of runs in which both report a number. A statistic over all
 * runs of each side would favour a side that fails on large inputs. A candidate that is 5 % worse on each of 20 inputs, and
 * fails on the largest, had the lower mean in 91 % of experiments.
 */

import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import {
  formatEvidence,
  formatExactPercent,
  formatPercent,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { type Observation, selectExisting } from '../observations.ts';
import { compareFailures } from '../paired/losses.ts';
import { findLoser } from '../paired/signed-rank.ts';
import { buildUnits, type OutcomePair, type PairedUnit, pairOutcomes, readOutcome } from '../paired/units.ts';
import { CANCELED_SHARE_MAX, explainLostPairs } from '../paired/warnings.ts';

/** The runs of both sides. */
export interface SideObservations {
  control: readonly Observation[];
  candidate: readonly Observation[];
}

/** Both sides of one indicator, over the inputs that both solved. */
export interface SolvedInputs {
  /** One value for each pair of runs. An input of which the sides ran different repetitions has one pair: their means. */
  control: number[];
  candidate: number[];
  /** Distinct inputs with a number on both sides. */
  solved: number;
  /** Distinct inputs of which both sides ended, by a number or a failure. */
  ended: number;
  /** Distinct inputs without an outcome, because the run of the control or both runs were canceled or deleted. */
  canceled: number;
  /** The pairs of which a canceled or deleted run may hide an outcome: a canceled candidate hides none that its control failed. */
  open_pairs: OutcomePair[];
  failures: LostInputs;
}

/** Inputs and runs that the candidate lost. */
interface LostInputs {
  /** Inputs that only the candidate lost: it failed in at least half of the pairs more than the control. */
  inputs: number;
  /** The first of them, with a run of the candidate that failed on it; null for none. */
  example: { input_id: string; run_id: string | null } | null;
  /** Paired runs, and those of each side that failed. */
  pairs: number;
  control_failed: number;
  candidate_failed: number;
  /** Two-sided exact p-value of equal failures. */
  p_value: number;
  /** True: runs of the candidate were canceled or deleted. */
  has_canceled: boolean;
}

/** The scale is of no importance: only failures and numbers count here. */
const SCALE = { measure: 'absolute', tie_tolerance: 0, shift: 0, factor: 1 } as const;

/**
 * Pairs the runs of both sides by input. A run that succeeded without a number of the indicator counts as failed. So does a
 * run of the candidate that was canceled or deleted where its control was not: otherwise somebody cancels the run that hangs,
 * and the rule is met.
 */
export function pairSolvedInputs({ control, candidate }: SideObservations, indicator: string): SolvedInputs {
  const paired = pairOutcomes(control, candidate, indicator);
  const inputs = paired.map((input) => ({
    ...input,
    pairs: input.pairs.map(countCanceledAsFailed),
  }));
  const solved = inputs.flatMap(({ pairs }) =>
    pairs.flatMap((pair) =>
      typeof pair.control === 'number' && typeof pair.candidate === 'number'
        ? [{ control: pair.control, candidate: pair.candidate }]
        : [],
    ),
  );
  const units = buildUnits(inputs, SCALE);
  const ended = units.filter(({ state }) => state === 'complete');
  return {
    control: solved.map((pair) => pair.control),
    candidate: solved.map((pair) => pair.candidate),
    solved: ended.filter(({ effect }) => effect !== null).length,
    ended: ended.length,
    canceled: units.filter(({ state }) => state === 'canceled').length,
    open_pairs: paired.flatMap(({ pairs }) =>
      pairs.map((pair) => (pair.control === 'failed' ? countCanceledAsFailed(pair) : pair)),
    ),
    failures: {
      ...describeLostInputs(ended, candidate, indicator),
      has_canceled: paired.some(({ pairs }) => pairs.some((pair) => pair.candidate === 'canceled')),
    },
  };
}

function countCanceledAsFailed(pair: OutcomePair): OutcomePair {
  const isLost = pair.candidate === 'canceled' && pair.control !== 'canceled';
  return isLost ? { ...pair, candidate: 'failed' } : pair;
}

function describeLostInputs(
  units: readonly PairedUnit[],
  candidates: readonly Observation[],
  indicator: string,
): Omit<LostInputs, 'has_canceled'> {
  const { candidate_only, control_failed, candidate_failed, p_value } = compareFailures(units);
  const first = units.find((unit) => findLoser(unit) > 0);
  const isLost = (run: Observation) => {
    const outcome = readOutcome(run, indicator);
    return first?.input_ids.includes(run.input_id) && (outcome === 'failed' || outcome === 'canceled');
  };
  const run = candidates.find((one) => one.run_id && isLost(one)) ?? candidates.find(isLost);
  return {
    inputs: candidate_only,
    example: first
      ? { input_id: run?.input_id ?? first.input_ids[0] ?? '', run_id: run?.run_id ?? null }
      : null,
    pairs: units.reduce((total, { pairs }) => total + pairs, 0),
    control_failed,
    candidate_failed,
    p_value,
  };
}

/** The p-value from which more failed runs of the candidate count where no single input is lost. */
const FAILURE_P_VALUE_MAX = 0.1;

/**
 * Returns why a rule is not met because of failures; null when they do not object. The candidate may lose `margin` of the
 * inputs that both sides ended, none without a margin. Where no input is lost, because only some of its repetitions failed,
 * the failed runs count: more than chance explains, and more than the margin.
 */
export function findFailureObjection(
  { ended, failures }: Pick<SolvedInputs, 'ended' | 'failures'>,
  margin: number | undefined,
): string | null {
  const { inputs, example, pairs, control_failed, candidate_failed, p_value } = failures;
  const verb = failures.has_canceled ? 'failed or was canceled' : 'failed';
  const allowed = margin === undefined ? 'none' : `at most ${formatExactPercent(margin)} of the inputs`;
  if (inputs > (margin ?? 0) * ended + ROUNDING)
    return `The candidate ${verb} on ${inputs} of ${ended} input${ended === 1 ? '' : 's'} that the control solved${formatExample(example, inputs)}; the test allows ${allowed}.`;
  const excess = candidate_failed - control_failed;
  if (p_value > FAILURE_P_VALUE_MAX || excess <= (margin ?? 0) * pairs + ROUNDING) return null;
  return `The candidate ${verb} in ${candidate_failed} of ${pairs} paired runs, the control in ${control_failed} (p-value ${formatEvidence(p_value)}); the test allows ${allowed}.`;
}

/**
 * Returns why a rule is not met because of inputs or pairs of runs without an outcome, as a verdict is not given; null for few
 * of them. The test may allow more pairs by `margin`, because a canceled candidate counts as failed.
 */
export function explainCanceledInputs(
  { ended, canceled, open_pairs }: Pick<SolvedInputs, 'ended' | 'canceled' | 'open_pairs'>,
  margin: number | undefined,
): string | null {
  const total = ended + canceled;
  if (canceled > CANCELED_SHARE_MAX * total)
    return `${canceled} of ${formatCount(total, 'input')} ${canceled === 1 ? 'has' : 'have'} no outcome because runs were canceled or deleted; above ${formatPercent(CANCELED_SHARE_MAX)} of the inputs no rule is met.`;
  const lost =
    explainLostPairs(open_pairs.map(countCanceledAsFailed)) ??
    explainLostPairs(open_pairs, Math.max(CANCELED_SHARE_MAX, (margin ?? 0) + ROUNDING));
  return lost === null ? null : `${lost}, so no rule is met.`;
}

/** A share of 0.07 of 100 inputs is 7.000000000000001 in doubles. */
const ROUNDING = 1e-9;

function formatExample(example: LostInputs['example'], inputs: number): string {
  if (!example) return '';
  const run = example.run_id ? `run ${example.run_id}` : 'its run could not be submitted';
  return `${inputs === 1 ? ':' : ', such as'} ${JSON.stringify(example.input_id)} (${run})`;
}

/** Returns the reason without a verdict when all runs of some planned inputs were deleted before the end. */
export function explainDeletedInputs(planned: readonly string[], runs: readonly Observation[]): string[] {
  const deleted = countDeletedInputs(planned, runs);
  if (deleted <= CANCELED_SHARE_MAX * planned.length) return [];
  return [
    `All runs of ${deleted} of ${formatCount(planned.length, 'input')} were deleted before the end; these are not a random choice, so there is no verdict.`,
  ];
}

function countDeletedInputs(planned: readonly string[], runs: readonly Observation[]): number {
  const known = new Set(selectExisting(runs).map(({ input_id }) => input_id));
  return planned.filter((id) => !known.has(id)).length;
}

/**
 * Returns the runs of a side that decide: those of the plan. Runs that joined decide only on a side without a planned run,
 * and then for no verdict: a repeated failure, or better values, would turn one.
 */
export function selectDecidingRuns(runs: readonly Observation[]): readonly Observation[] {
  const planned = runs.filter(({ is_joined }) => is_joined !== true);
  return planned.length === 0 ? runs : planned;
}

/** Returns the reasons without a verdict for sides that have deciding runs only because these joined. */
export function explainJoinedSides(
  sides: Readonly<Record<'control' | 'candidate', readonly Observation[]>>,
): string[] {
  return (['control', 'candidate'] as const).flatMap((name) =>
    sides[name].some(({ is_joined }) => is_joined === true)
      ? [
          `All runs of the ${name} joined the experiment outside of its plan: somebody chose them, perhaps after results were known, so there is no verdict.`,
        ]
      : [],
  );
}

/**
 * Returns the reasons without a verdict for sides whose runs had different executables or settings. Runs are created with
 * those that an instance has at that time, and a race creates them over hours. Somebody who changes the instance meanwhile
 * makes one side of two configurations. Repetitions may have different settings: their seeds.
 */
export function explainMixedSides(
  sides: Readonly<Record<'control' | 'candidate', readonly Observation[]>>,
): string[] {
  return (['control', 'candidate'] as const).flatMap((name) => {
    const setups = new Map<string, Set<string>>();
    for (const { option_set, repetition, setup } of sides[name]) {
      if (setup === undefined) continue;
      const key = JSON.stringify([option_set ?? '', repetition ?? 0]);
      setups.set(key, (setups.get(key) ?? new Set()).add(setup));
    }
    return [...setups.values()].some(({ size }) => size > 1)
      ? [
          `The runs of the ${name} had different executables or settings: its instance was changed while they were created, so there is no verdict. Repeat the experiment.`,
        ]
      : [];
  });
}

/** Warns of runs that joined beside runs of the plan, which decide. */
export function warnOfJoinedRuns(runs: readonly Observation[], deciding: readonly Observation[]): string[] {
  const count = runs.length - deciding.length;
  if (count === 0) return [];
  return [
    `${formatCount(count, 'run')} joined the experiment outside of its plan. ${count === 1 ? 'It counts' : 'They count'} in the distributions, and not in the comparisons.`,
  ];
}

/**
 * Returns a warning when a rule is met without some runs: few enough, or within the margin for failures. A deleted run shows
 * only in the plan: one side has fewer runs than the other.
 */
export function warnOfMissingRuns(
  planned: readonly string[],
  runs: readonly Observation[],
  sides: Readonly<Record<'control' | 'candidate', readonly Observation[]>>,
): string[] {
  const control = countByInput(sides.control);
  const candidate = countByInput(sides.candidate);
  const canceled = new Set(
    [...sides.control, ...sides.candidate]
      .filter(({ status }) => status === 'canceled' || status === 'deleted')
      .map(({ input_id }) => input_id),
  );
  const incomplete = planned.filter((id) => canceled.has(id) || control.get(id) !== candidate.get(id)).length;
  const missing = incomplete + countDeletedInputs(planned, runs);
  if (missing === 0) return [];
  return [
    `${missing} of ${formatCount(planned.length, 'input')} ${missing === 1 ? 'lacks' : 'lack'} runs: they were canceled, deleted or never planned. The rule is decided without them.`,
  ];
}

function countByInput(runs: readonly Observation[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { input_id } of runs) counts.set(input_id, (counts.get(input_id) ?? 0) + 1);
  return counts;
}
