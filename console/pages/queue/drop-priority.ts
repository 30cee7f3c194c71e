import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { PRIORITIES } from '../../ui/resources/priorities.ts';

type QueuedRun = Pick<ActiveRun, 'id' | 'application_id' | 'queuing_priority' | 'created_at'>;

/** Why a run cannot be dropped at a place. */
export const DROP_REFUSAL =
  'No priority gives the run this place. Runs of one priority take turns: the next one is of the application that uses the fewest slots, and the runs of an application start in order of age. Drop the run between two priorities, or before or after all runs of one.';

/**
 * Returns the priority that gives the dragged run its place in a list in queue order, and null when none does. The place is
 * right before the target if the run moves up, and right behind it if it moves down.
 */
export function findDropPriority(
  runs: readonly QueuedRun[],
  dragged: QueuedRun,
  target: QueuedRun,
): number | null {
  const from = runs.findIndex(({ id }) => id === dragged.id);
  const to = runs.findIndex(({ id }) => id === target.id);
  if (from < 0 || to < 0 || from === to) return null;
  const others = runs.toSpliced(from, 1);
  const before = others.slice(0, to);
  const after = others.slice(to);
  const fitting = PRIORITIES.filter((queuing_priority) => {
    const moved = { ...dragged, queuing_priority };
    return before.every((run) => startsBefore(run, moved)) && after.every((run) => startsBefore(moved, run));
  });
  const own = target.queuing_priority;
  return fitting.toSorted((one, other) => Math.abs(one - own) - Math.abs(other - own))[0] ?? null;
}

/** Returns true if one run starts before the other, whatever slots their applications use. */
function startsBefore(one: QueuedRun, other: QueuedRun): boolean {
  if (one.queuing_priority !== other.queuing_priority) return one.queuing_priority < other.queuing_priority;
  if (one.application_id !== other.application_id) return false;
  const ages = Date.parse(one.created_at) - Date.parse(other.created_at);
  return ages === 0 ? one.id < other.id : ages < 0;
}
