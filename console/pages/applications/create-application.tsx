import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';

/** Asks for the name and id of a new application, creates it and opens its page. */
export function CreateApplication({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [id, setId] = useState('');
  const body = { name: name.trim(), ...(id.trim() && { id: id.trim() }) };
  return (
    <FormDialog
      title="New application"
      action="Create application"
      missing={body.name === '' && 'Give a name'}
      requests={[['createApplication', { body }]]}
      onClose={onClose}
      onSubmit={async () => {
        const created = await client.call('createApplication', { body });
        await queryClient.invalidateQueries({ queryKey: ['listApplications'] });
        await navigate({ to: '/apps/$application', params: { application: created.body.id } });
      }}
    >
      <TextField label="Name" value={name} onChange={setName} autoFocus />
      <TextField
        label="Id"
        help="The id is part of every address and never changes. Leave it empty to derive it from the name."
        value={id}
        onChange={setId}
      />
    </FormDialog>
  );
}
