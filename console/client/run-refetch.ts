/** Decides how often a list of runs is read again while the console gets no events from the server. */
import type { RunStatusV2 } from '@switchyard/contract/states.ts';

/** A run that is queued or running changes soon. Otherwise only new runs change a list. */
const ACTIVE_REFETCH_MS = 1_500;
const IDLE_REFETCH_MS = 15_000;

/** Returns true for a run that the server will start or end by itself. */
export function isActiveStatus(status: RunStatusV2): boolean {
  return status === 'queued' || status === 'running';
}

/** Returns the milliseconds until runs are read again, some of which are active or none. */
export function chooseRefetchMs(isActive: boolean): number {
  return isActive ? ACTIVE_REFETCH_MS : IDLE_REFETCH_MS;
}

/** Returns the milliseconds until the runs are read again. */
export function computeRefetchMs(runs: readonly { status_v2: RunStatusV2 }[]): number {
  return chooseRefetchMs(runs.some(({ status_v2 }) => isActiveStatus(status_v2)));
}
