import { type InventoryKind, listLostKinds, RETAINED_KINDS } from '@switchyard/contract/account/inventory.ts';
import type { Member } from '@switchyard/contract/account/members.ts';
import { canGrant, ROLES, type Role } from '@switchyard/contract/roles.ts';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { accountQuery } from '../../client/session.ts';
import { useEdit } from '../../ui/forms/conflicts/use-edit.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { SelectField } from '../../ui/forms/text-field.tsx';
import { MadeThings, splitChoice } from './made-things.tsx';
import { inventoryQuery, membersQuery } from './queries.ts';

/** Changes the role of a member, and says what happens to the member's keys. */
export function RoleDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const { data: account } = useSuspenseQuery(accountQuery);
  const roles = ROLES.filter((one) => canGrant(account.key.role, one));
  const { draft, change, seen, load } = useEdit<Member, { role: Role }>({
    resource: member,
    fetch: async () => (await client.call('getMember', { params: { member_id: member.id } })).body,
    createDraft: (state) => ({ role: state.role }),
    labels: { role: 'Role' },
  });
  const { role } = draft;
  const inventory = useQuery(inventoryQuery(member.id));
  const [retained, setRetained] = useState<InventoryKind[]>([...RETAINED_KINDS]);
  const kinds = listLostKinds(seen.role, role);
  const { keep, revoke } = splitChoice(retained, kinds);
  const request = {
    params: { member_id: member.id },
    body: {
      role,
      ...(keep.length > 0 ? { keep } : {}),
      ...(revoke.length > 0 ? { revoke } : {}),
    },
  };
  return (
    <FormDialog
      title={`Role of ${member.email}`}
      action="Change role"
      missing={role === seen.role && 'Choose another role'}
      requests={[['updateMember', request]]}
      onClose={onClose}
      onLoad={load}
      onSubmit={async () => {
        const body = { ...request.body, expected_updated_at: seen.updated_at };
        await client.call('updateMember', { ...request, body });
        await queryClient.invalidateQueries(membersQuery);
        onClose();
      }}
    >
      <SelectField
        label="Role"
        help="Keys with more rights than the new role are revoked at once. A role with more rights does not extend existing keys."
        value={role}
        options={roles}
        onChange={(value) => change({ role: roles.find((one) => one === value) ?? role })}
      />
      {role !== seen.role && inventory.data && (
        <MadeThings inventory={inventory.data} kinds={kinds} retained={retained} onRetain={setRetained} />
      )}
    </FormDialog>
  );
}
