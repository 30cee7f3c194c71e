/** A claim of queued runs by a worker. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import type { WorkerOffer } from '../../workers/offers.ts';
import type { RunClaim } from '../store/transitions.ts';

export interface ClaimRequest extends RunClaim {
  classes: readonly ExecutionClass[];
  limit: number;
  /** The number of further workflows that the worker takes, by their depth. */
  workflowCapacity: readonly number[];
  offer: WorkerOffer;
}
