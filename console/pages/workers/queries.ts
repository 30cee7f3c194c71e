import { queryOptions, useMutation } from '@tanstack/react-query';
import { client } from '../../client/client.ts';
import { operationQuery, queryClient } from '../../client/queries.ts';

const REFRESH_MS = 2_000;

/** The workers of the server, read again every two seconds while the page is visible, and when the queue changes. */
export const workersQuery = queryOptions({
  ...operationQuery('getWorkers'),
  refetchInterval: REFRESH_MS,
  meta: { topics: [{ events: 'queue' }] },
});

/** The provisioner, read again as often as the workers. */
export const provisionerQuery = queryOptions({
  ...operationQuery('getProvisioner'),
  refetchInterval: REFRESH_MS,
});

/** The worker tokens with the number of their workers, read again as often as the workers. Only an administrator may read them. */
export const workerTokensQuery = queryOptions({
  ...operationQuery('getWorkerTokens'),
  refetchInterval: REFRESH_MS,
});

/** Drains a worker or ends its drain, and resolves when the page shows it. */
export function useDrain() {
  return useMutation({
    mutationFn: ({ id, isDraining }: { id: string; isDraining: boolean }) =>
      client.call(isDraining ? 'endWorkerDrain' : 'drainWorker', { params: { worker_id: id } }),
    onSettled: () => queryClient.invalidateQueries(workersQuery),
  });
}
