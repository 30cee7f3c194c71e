import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { refreshCollections } from './queries.ts';
import { EMPTY_SECRET, SecretFields } from './secret-fields.tsx';

/** Creates a collection with a first secret. Further secrets are added to it afterwards. */
export function CreateCollection({ application, onClose }: { application: string; onClose: () => void }) {
  const navigate = useNavigate({ from: '/apps/$application/secrets' });
  const [id, setId] = useState('');
  const [name, setName] = useState('');
  const [secret, setSecret] = useState(EMPTY_SECRET);
  const params = { application_id: application };
  const names = { id: id.trim(), ...(name.trim() && { name: name.trim() }) };
  const first = { ...secret, location: secret.location.trim() };
  return (
    <FormDialog
      title="New collection"
      action="Create collection"
      missing={
        (names.id === '' && 'Give an id') ||
        (first.location === '' && 'Name the secret') ||
        (secret.value === '' && 'Give a value')
      }
      requests={[
        [
          'createSecretsCollection',
          {
            params,
            body: { ...names, secrets: [{ ...first, value: 'VALUE' }] },
          },
        ],
      ]}
      onClose={onClose}
      onSubmit={async () => {
        const body = { ...names, secrets: [first] };
        const created = await client.call('createSecretsCollection', { params, body });
        await refreshCollections();
        await navigate({ search: { collection: created.body.id } });
        onClose();
      }}
    >
      <TextField
        label="Id"
        help="Instances and runs refer to it; it never changes."
        value={id}
        onChange={setId}
        autoFocus
      />
      <TextField label="Name" help="The default is the id." value={name} onChange={setName} />
      <SecretFields secret={secret} onChange={setSecret} />
    </FormDialog>
  );
}
