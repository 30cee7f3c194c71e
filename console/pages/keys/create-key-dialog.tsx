import { canGrant, ROLES, type Role } from '@switchyard/contract/roles.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { accountQuery } from '../../client/session.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { useRight } from '../../ui/use-right.ts';
import { keysQuery } from './queries.ts';

/** Asks for the name and role of a new key, and creates it. `onCreate` gets its token. */
export function CreateKeyDialog({
  onClose,
  onCreate,
}: {
  onClose: () => void;
  onCreate: (token: string) => void;
}) {
  const { data: account } = useSuspenseQuery(accountQuery);
  const managesAccount = useRight('account');
  const roles = ROLES.filter((one) => canGrant(account.key.role, one));
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>(account.key.role);
  const [owner, setOwner] = useState('');
  const body = { name: name.trim(), role, ...(owner.trim() && { user_email: owner.trim() }) };
  return (
    <FormDialog
      title="New key"
      action="Create key"
      missing={body.name === '' && 'Give a name'}
      requests={[['createKey', { body }]]}
      onClose={onClose}
      onSubmit={async () => {
        const created = await client.call('createKey', { body });
        await queryClient.invalidateQueries(keysQuery);
        onCreate(created.body.token);
      }}
    >
      <TextField label="Name" value={name} onChange={setName} autoFocus />
      <SelectField
        label="Role"
        help="A key can have at most the rights of your own role."
        value={role}
        options={roles}
        onChange={(value) => setRole(roles.find((one) => one === value) ?? role)}
      />
      {managesAccount && (
        <TextField
          label="Owner"
          help={`The e-mail address of a member, or the name of a service. The default is ${account.key.user_email}.`}
          value={owner}
          onChange={setOwner}
        />
      )}
    </FormDialog>
  );
}
