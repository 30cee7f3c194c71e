import type { Member } from '@switchyard/contract/account/members.ts';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { membersQuery } from './queries.ts';

/** Asks before a member is removed. */
export function RemoveDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  return (
    <ConfirmDialog
      title={`Remove ${member.email}?`}
      word={member.email}
      action="Remove member"
      onClose={onClose}
      onConfirm={async () => {
        await client.call('deleteMember', { params: { member_id: member.id } });
        await queryClient.invalidateQueries(membersQuery);
        onClose();
      }}
    >
      <p>
        Every key of the member stops working at once, and so do open invites from the member. Runs of the
        member stay.
      </p>
    </ConfirmDialog>
  );
}
