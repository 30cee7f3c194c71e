/** Finds inputs of a batch experiment whose runs were deleted or canceled, by its plan. Pure. */
import type { Observation } from '../observations.ts';
import { formatCount } from '../paired/verdict.ts';
import { CANCELED_SHARE_MAX } from '../paired/warnings.ts';

/**
 * Returns the reason without a verdict when all runs of some planned inputs were deleted before the end. Such an input leaves
 * no trace in the runs, so without the plan a candidate could lose it and still be better.
 */
export function explainDeletedInputs(planned: readonly string[], runs: readonly Observation[]): string[] {
  const deleted = countDeletedInputs(planned, runs);
  if (deleted <= CANCELED_SHARE_MAX * planned.length) return [];
  return [
    `All runs of ${deleted} of ${formatCount(planned.length, 'input')} were deleted before the end; these are not a random choice, so there is no verdict.`,
  ];
}

function countDeletedInputs(planned: readonly string[], runs: readonly Observation[]): number {
  const known = new Set(runs.map(({ input_id }) => input_id));
  return planned.filter((id) => !known.has(id)).length;
}

/**
 * Returns a warning when the sides are compared without some runs. A candidate whose hanging run is canceled or deleted meets
 * a rule on the other inputs. A deleted run shows in the plan alone: one side has fewer runs than the other.
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
      .filter(({ status }) => status === 'canceled')
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
