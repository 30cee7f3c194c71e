import type { WorkerToken } from '@switchyard/contract/workers/worker-tokens.ts';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { workersQuery, workerTokensQuery } from './queries.ts';

/** Asks before a worker token is revoked, which removes its workers. */
export function RevokeTokenDialog({
  revoked: { id, name, workers },
  onClose,
}: {
  revoked: WorkerToken;
  onClose: () => void;
}) {
  return (
    <ConfirmDialog
      title={`Revoke ${name}?`}
      word={name}
      action="Revoke worker token"
      onClose={onClose}
      onConfirm={async () => {
        await client.call('revokeWorkerToken', { params: { worker_token_id: id } });
        await Promise.all([
          queryClient.invalidateQueries(workerTokensQuery),
          queryClient.invalidateQueries(workersQuery),
        ]);
        onClose();
      }}
    >
      <p>{describeLoss(workers)}</p>
    </ConfirmDialog>
  );
}

function describeLoss(workers: number): string {
  if (workers === 0) return 'No worker uses it now. A worker that starts with it is refused.';
  if (workers === 1) return 'The worker that uses it ends at once. Its runs are queued again.';
  return `The ${workers} workers that use it end at once. Their runs are queued again.`;
}
