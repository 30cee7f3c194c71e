import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { accountQuery } from '../../client/session.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';

/** Changes the name of the account. */
export function RenameDialog({ onClose }: { onClose: () => void }) {
  const { data: account } = useSuspenseQuery(accountQuery);
  const [name, setName] = useState(account.name);
  const body = { name: name.trim() };
  return (
    <FormDialog
      title="Rename account"
      action="Rename"
      missing={(body.name === '' || body.name === account.name) && 'Give a new name'}
      requests={[['updateAccount', { body }]]}
      onClose={onClose}
      onSubmit={async () => {
        await client.call('updateAccount', { body });
        await queryClient.invalidateQueries(accountQuery);
        onClose();
      }}
    >
      <TextField label="Name of the account" value={name} onChange={setName} autoFocus />
    </FormDialog>
  );
}
