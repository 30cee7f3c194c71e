/** A claim of queued runs by a worker. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { RunsTable } from '../store/schema.ts';
import type { RunClaim } from '../store/transitions.ts';
import type { WorkerOffer } from '../workers/offers.ts';

export interface ClaimRequest extends RunClaim {
  classes: readonly ExecutionClass[];
  limit: number;
  /** The number of further workflows that the worker takes, by their depth. */
  workflowCapacity: readonly number[];
  offer: WorkerOffer;
}

/**
 * Returns a function that is called with the queued runs of a claim in their order. It returns false for a workflow that would
 * be one too many on its level.
 */
export function createWorkflowFilter({ workflowCapacity }: Pick<ClaimRequest, 'workflowCapacity'>) {
  const capacity = [...workflowCapacity];
  return ({ api_access, workflow_depth }: Pick<RunsTable, 'api_access' | 'workflow_depth'>): boolean => {
    if (api_access === null) return true;
    const left = capacity[workflow_depth] ?? 0;
    capacity[workflow_depth] = left - 1;
    return left > 0;
  };
}
