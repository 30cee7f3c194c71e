/** The status of a worker, as operations and metrics show it. */
import { HEARTBEAT_TIMEOUT_MS } from '@switchyard/contract/limits.ts';
import type { WorkerStatus } from '@switchyard/contract/workers/workers.ts';
import { createPools } from '@switchyard/worker/execute/slots.ts';
import type { WorkerDetails } from './workers.ts';

/** Returns the status of the worker at the time `now`. */
export function computeWorkerStatus(
  { heartbeatAt, drainingAt, capacity }: Pick<WorkerDetails, 'heartbeatAt' | 'drainingAt' | 'capacity'>,
  now: number,
): WorkerStatus {
  if (now - heartbeatAt > HEARTBEAT_TIMEOUT_MS) return 'unresponsive';
  // A worker that stops has no slots; no setting leaves a worker without any.
  if (createPools(capacity).every(({ slots }) => slots === 0)) return 'stopping';
  return drainingAt === null ? 'active' : 'draining';
}
