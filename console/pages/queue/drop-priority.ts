import { PRIORITY_MAX, PRIORITY_MIN } from '@switchyard/contract/limits.ts';
import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';

type QueuedRun = Pick<ActiveRun, 'id' | 'queuing_priority' | 'created_at'>;

/**
 * Returns the priority with which the dragged run stands right before the target if it moves up, or behind it if it moves down.
 * Returns null when no priority does: runs of one priority stay in the order of their creation.
 */
export function findDropPriority(dragged: QueuedRun, target: QueuedRun): number | null {
  if (dragged.id === target.id) return null;
  const movesUp = isBefore(target, dragged);
  const own = target.queuing_priority;
  const priority = [own, movesUp ? own - 1 : own + 1].find((queuing_priority) => {
    const moved = { ...dragged, queuing_priority };
    return movesUp ? isBefore(moved, target) : isBefore(target, moved);
  });
  return priority !== undefined && priority >= PRIORITY_MIN && priority <= PRIORITY_MAX ? priority : null;
}

/** The order of the queue. */
function isBefore(one: QueuedRun, other: QueuedRun): boolean {
  if (one.queuing_priority !== other.queuing_priority) return one.queuing_priority < other.queuing_priority;
  const ages = Date.parse(one.created_at) - Date.parse(other.created_at);
  return ages === 0 ? one.id < other.id : ages < 0;
}
