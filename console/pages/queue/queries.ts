import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { queryOptions, useMutation } from '@tanstack/react-query';
import { unlessLive } from '../../client/account-changes.ts';
import { client } from '../../client/client.ts';
import { operationQuery, queryClient } from '../../client/queries.ts';
import { workersQuery } from '../workers/queries.ts';

const REFRESH_MS = 1_000;
/** Predicted starts move while runs last, without an event. */
const PREDICTION_REFRESH_MS = 10_000;

/** The queued and running runs of the account. */
export const queueQuery = queryOptions({
  ...operationQuery('getQueue'),
  refetchInterval: () => Math.min(unlessLive(REFRESH_MS) || REFRESH_MS, PREDICTION_REFRESH_MS),
  meta: { topics: [{ events: 'queue' }] },
});

/** The workers with their slots. */
export const queueWorkersQuery = queryOptions({
  ...workersQuery,
  refetchInterval: () => unlessLive(REFRESH_MS),
});

/** The ids that name a run. */
export interface RunIds {
  application_id: string;
  run_id: string;
}

/** A change of the priority of a queued run. */
export interface PriorityChange {
  run: Pick<ActiveRun, 'id' | 'application_id'>;
  priority: number;
}

/** Changes priorities of queued runs. */
export function usePriorityChange() {
  return useMutation({
    mutationFn: ({ run, priority }: PriorityChange) =>
      client.call('updateRun', {
        params: { application_id: run.application_id, run_id: run.id },
        body: { queuing_priority: priority },
      }),
    onSettled: () => queryClient.invalidateQueries(queueQuery),
  });
}

/** Cancels a run, and resolves when the queue shows it. Throws the refusal of the server. */
export async function cancelRun(params: RunIds): Promise<void> {
  await client.call('cancelRun', { params });
  await queryClient.invalidateQueries(queueQuery);
}
