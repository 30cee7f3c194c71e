/** The place of a run among the queued runs of its application: by priority, the lowest number first, then by age, then by id. */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { type Expression, type SqlBool, sql } from 'kysely';
import type { RunsTable } from '../../store/schema.ts';

/** The position of a run. It stays when the run is requeued, and changes with its priority. */
export type QueuePosition = Pick<RunsTable, 'id' | 'priority' | 'created_at'>;

/** Creates the position of a run; `createdAt` is in milliseconds. */
export function createQueuePosition(priority: number, createdAt: number, id: string): QueuePosition {
  return { priority, created_at: createdAt, id: id as RunId };
}

/** Compares the ages of two runs for sort(): negative when the first run is older. */
export function compareAge(
  one: Pick<QueuePosition, 'id' | 'created_at'>,
  other: Pick<QueuePosition, 'id' | 'created_at'>,
): number {
  return one.created_at - other.created_at || (one.id === other.id ? 0 : one.id < other.id ? -1 : 1);
}

/** Compares two positions for sort(): negative when the first run has the higher priority, or the same and is older. */
export function comparePositions(one: QueuePosition, other: QueuePosition): number {
  return one.priority - other.priority || compareAge(one, other);
}

/** True for runs of a lower priority, and for younger runs of the same. */
export function isLater({ priority, created_at, id }: QueuePosition): Expression<SqlBool> {
  return sql<SqlBool>`(priority, created_at, id) > (${priority}, ${created_at}, ${id})`;
}
