/** Finds runs of a batch experiment that somebody selected: deleted, canceled, or added to its plan. Pure. */

import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { type Observation, selectExisting } from '../observations.ts';
import { CANCELED_SHARE_MAX } from '../paired/sentences.ts';

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
 * in the plan alone: one side has fewer runs than the other.
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
