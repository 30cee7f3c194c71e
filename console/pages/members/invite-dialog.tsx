import { canGrant, ROLES, type Role } from '@switchyard/contract/roles.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { accountQuery } from '../../client/session.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { ROLE_WORDS } from './members-table.tsx';
import { membersQuery } from './queries.ts';

/** Asks for the person to invite. `onInvite` gets the address of the invite. */
export function InviteDialog({
  onClose,
  onInvite,
}: {
  onClose: () => void;
  onInvite: (url: string) => void;
}) {
  const { data: account } = useSuspenseQuery(accountQuery);
  const roles = ROLES.filter((one) => canGrant(account.key.role, one));
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('developer');
  const body = { email: email.trim(), role, ...(name.trim() && { name: name.trim() }) };
  return (
    <FormDialog
      title="Invite member"
      action="Create invite"
      missing={body.email === '' && 'Give an address'}
      requests={[['inviteMember', { body }]]}
      onClose={onClose}
      onSubmit={async () => {
        const invited = await client.call('inviteMember', { body });
        await queryClient.invalidateQueries(membersQuery);
        onInvite(invited.body.invite_url);
      }}
    >
      <TextField label="E-mail address" value={email} onChange={setEmail} autoFocus />
      <TextField label="Name" value={name} onChange={setName} />
      <SelectField
        label="Role"
        help={`May reach: ${ROLE_WORDS[role]}. Keys of the member have at most this role.`}
        value={role}
        options={roles}
        onChange={(value) => setRole(roles.find((one) => one === value) ?? role)}
      />
    </FormDialog>
  );
}
