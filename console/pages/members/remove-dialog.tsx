import { type InventoryKind, RETAINED_KINDS } from '@switchyard/contract/account/inventory.ts';
import type { Member } from '@switchyard/contract/account/members.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, describeError } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { MadeThings, splitChoice } from './made-things.tsx';
import { inventoryQuery, membersQuery } from './queries.ts';

/** Asks before a member is removed, and shows what is revoked with them. */
export function RemoveDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const inventory = useQuery(inventoryQuery(member.id));
  const [retained, setRetained] = useState<InventoryKind[]>([...RETAINED_KINDS]);
  return (
    <ConfirmDialog
      title={`Remove ${member.email}?`}
      word={member.email}
      action="Remove member"
      onClose={onClose}
      onConfirm={async () => {
        const { keep, revoke } = splitChoice(retained);
        const query = {
          ...(keep.length > 0 ? { keep: keep.join(',') } : {}),
          ...(revoke.length > 0 ? { revoke: revoke.join(',') } : {}),
        };
        await client.call('deleteMember', { params: { member_id: member.id }, query });
        await queryClient.invalidateQueries(membersQuery);
        onClose();
      }}
    >
      <p>
        Every key of the member stops working at once, and so do open invites from the member. Runs of the
        member stay.
      </p>
      {inventory.isError && <Notice kind="error">{describeError(inventory.error)}</Notice>}
      {inventory.data && <MadeThings inventory={inventory.data} retained={retained} onRetain={setRetained} />}
    </ConfirmDialog>
  );
}
