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
      <p>
        {workers === 0
          ? 'No worker uses it now. A worker that starts with it is refused.'
          : `${workers === 1 ? 'The worker' : `The ${workers} workers`} that ${workers === 1 ? 'uses' : 'use'} it end at once. Their runs are queued again and start from the beginning on another worker.`}
      </p>
    </ConfirmDialog>
  );
}
