import type { SecretOperation, SecretsCollectionSummary } from '@switchyard/contract/applications/secrets.ts';
import { client } from '../../client/client.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { useEdit } from '../../ui/forms/conflicts/use-edit.ts';
import type { FormRequest } from '../../ui/forms/curl.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { RenameDialog } from '../../ui/resources/rename-dialog.tsx';
import { refreshCollections, type SecretName } from './queries.ts';
import { EMPTY_SECRET, SecretFields, SecretValue } from './secret-fields.tsx';

/** The dialog that is open, with the secret that it changes. */
export type OpenDialog =
  | { kind: 'create' | 'rename' | 'remove-collection' }
  | { kind: 'update' | 'delete'; secret: SecretName };

interface DialogProps {
  application: string;
  collection: SecretsCollectionSummary;
  /** Called after a secret was changed. */
  onChanged: () => void;
  onClose: () => void;
}

/** The dialogs that change a collection. */
export function SecretDialogs({ dialog, ...props }: DialogProps & { dialog: OpenDialog }) {
  switch (dialog.kind) {
    case 'create':
      return <CreateSecret {...props} />;
    case 'update':
      return <ReplaceValue {...props} secret={dialog.secret} />;
    case 'delete':
      return <DeleteSecret {...props} secret={dialog.secret} />;
    case 'rename':
      return <RenameCollection {...props} />;
    case 'remove-collection':
      return <DeleteCollection {...props} />;
  }
}

function getParams({ application, collection }: Pick<DialogProps, 'application' | 'collection'>) {
  return { application_id: application, collection_id: collection.id };
}

/** The form of one secret of a collection, on the state of the collection that the person has seen. */
function useCollectionEdit<D extends object>(props: DialogProps, empty: D) {
  const edit = useEdit({
    resource: props.collection,
    fetch: async () => (await client.call('getSecretsCollection', { params: getParams(props) })).body,
    createDraft: () => empty,
    labels: {},
  });
  const send = async (operation: SecretOperation): Promise<void> => {
    await client.call('patchSecretsCollection', {
      params: getParams(props),
      body: { operations: [operation], expected_updated_at: edit.seen.updated_at },
    });
    await refreshCollections();
    props.onChanged();
    props.onClose();
  };
  const load = async () => {
    const changes = await edit.load();
    // The list behind the dialog shows which secrets there are now.
    props.onChanged();
    return changes;
  };
  return { draft: edit.draft, change: edit.change, send, load };
}

/** The request to copy has a placeholder: a value does not belong in the history of a shell. */
function buildRequests(props: DialogProps, operation: SecretName & { op: string }): readonly FormRequest[] {
  const body = { operations: [{ ...operation, value: 'VALUE' }] };
  return [['patchSecretsCollection', { params: getParams(props), body }]];
}

function CreateSecret(props: DialogProps) {
  const { draft: secret, change, send, load } = useCollectionEdit(props, EMPTY_SECRET);
  const { type, location } = secret;
  return (
    <FormDialog
      title={`Add a secret to ${props.collection.name}`}
      action="Add secret"
      missing={(location.trim() === '' && 'Name the secret') || (secret.value === '' && 'Give a value')}
      requests={buildRequests(props, { op: 'create', type, location: location.trim() })}
      onClose={props.onClose}
      onLoad={load}
      onSubmit={() => send({ op: 'create', ...secret, location: location.trim() })}
    >
      <SecretFields secret={secret} onChange={change} />
    </FormDialog>
  );
}

function ReplaceValue({ secret, ...props }: DialogProps & { secret: SecretName }) {
  const { draft, change, send, load } = useCollectionEdit(props, { value: '' });
  const { value } = draft;
  return (
    <FormDialog
      title={`Replace the value of ${secret.location}`}
      action="Replace value"
      missing={value === '' && 'Give a value'}
      requests={buildRequests(props, { op: 'update', ...secret })}
      onClose={props.onClose}
      onLoad={load}
      onSubmit={() => send({ op: 'update', ...secret, value })}
    >
      <p>Runs that start from now on get the new value, also those that are queued.</p>
      <SecretValue type={secret.type} value={value} onChange={(text) => change({ value: text })} />
    </FormDialog>
  );
}

function DeleteSecret({ secret, ...props }: DialogProps & { secret: SecretName }) {
  const { send, load } = useCollectionEdit(props, {});
  return (
    <ConfirmDialog
      title={`Delete ${secret.location}?`}
      word={secret.location}
      action="Delete secret"
      onClose={props.onClose}
      onConfirm={() => send({ op: 'delete', ...secret })}
      onLoad={load}
    >
      <p>Runs that start from now on do not get it, also those that are queued.</p>
    </ConfirmDialog>
  );
}

function RenameCollection(props: DialogProps) {
  const params = getParams(props);
  return (
    <RenameDialog
      noun="collection"
      current={props.collection}
      fetchCurrent={async () => (await client.call('getSecretsCollection', { params })).body}
      buildRequest={(body) => ['patchSecretsCollection', { params, body }]}
      onRename={async (body, condition) => {
        await client.call('patchSecretsCollection', { params, body: { ...body, ...condition } });
        await refreshCollections();
        props.onClose();
      }}
      onClose={props.onClose}
    />
  );
}

function DeleteCollection(props: DialogProps) {
  const { id } = props.collection;
  return (
    <ConfirmDialog
      title={`Delete ${id}?`}
      word={id}
      action="Delete collection"
      onClose={props.onClose}
      onConfirm={async () => {
        await client.call('deleteSecretsCollection', { params: getParams(props) });
        props.onClose();
        await refreshCollections();
      }}
    >
      <p>Its values are gone. Queued runs that refer to it fail when they start.</p>
    </ConfirmDialog>
  );
}
