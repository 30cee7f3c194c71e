import type { Member } from '@switchyard/contract/account/members.ts';
import { canGrant, ROLES, type Role } from '@switchyard/contract/roles.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { accountQuery } from '../../client/session.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { SelectField } from '../../ui/forms/text-field.tsx';
import { membersQuery } from './queries.ts';

/** Changes the role of a member, and says what happens to the member's keys. */
export function RoleDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const { data: account } = useSuspenseQuery(accountQuery);
  const roles = ROLES.filter((one) => canGrant(account.key.role, one));
  const [role, setRole] = useState<Role>(member.role);
  const request = { params: { member_id: member.id }, body: { role } };
  return (
    <FormDialog
      title={`Role of ${member.email}`}
      action="Change role"
      isReady={role !== member.role}
      requests={[['updateMember', request]]}
      onClose={onClose}
      onSubmit={async () => {
        await client.call('updateMember', request);
        await queryClient.invalidateQueries(membersQuery);
        onClose();
      }}
    >
      <SelectField
        label="Role"
        help="Keys with more rights than the new role are revoked at once. A role with more rights does not extend existing keys."
        value={role}
        options={roles}
        onChange={(value) => setRole(roles.find((one) => one === value) ?? role)}
      />
    </FormDialog>
  );
}
