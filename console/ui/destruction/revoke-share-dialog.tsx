import type { Share } from '@switchyard/contract/account/share-links.ts';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { ConfirmDialog } from '../confirm-dialog.tsx';

interface RevokeShareDialogProps {
  application: string;
  run: string;
  share: Pick<Share, 'id' | 'parts'>;
  onClose: () => void;
}

/** Asks before a share link stops working. */
export function RevokeShareDialog({ application, run, share, onClose }: RevokeShareDialogProps) {
  return (
    <ConfirmDialog
      title="Revoke this link?"
      action="Revoke link"
      onClose={onClose}
      onConfirm={async () => {
        await client.call('revokeShare', {
          params: { application_id: application, run_id: run, share_id: share.id },
        });
        await Promise.all(
          ['listShares', 'listAccountShares'].map((id) => queryClient.invalidateQueries({ queryKey: [id] })),
        );
        onClose();
      }}
    >
      <p>
        The link to {share.parts.join(', ')} of <bdi>{run}</bdi> stops working at once. A new link has another
        address.
      </p>
    </ConfirmDialog>
  );
}
