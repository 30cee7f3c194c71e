import { isBlankViewName } from '@switchyard/contract/runs/views/blank-view-name.ts';
import type { RunView, RunViewTable } from '@switchyard/contract/runs/views/run-views.ts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../../client/client.ts';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { useEdit } from '../../../ui/forms/conflicts/use-edit.ts';
import { FormDialog } from '../../../ui/forms/form-dialog.tsx';
import { SelectField, TextField } from '../../../ui/forms/text-field.tsx';
import { readView } from './runs-search.ts';

const CONFIRMATION = 'delete';

interface DialogProps {
  application: string;
  /** Reads the views again, and closes the dialog. */
  onSaved: () => Promise<void>;
  onClose: () => void;
}

/** Saves the table as a new view, and opens it. */
export function SaveViewDialog({
  application,
  table,
  onSaved,
  onClose,
}: DialogProps & { table: RunViewTable }) {
  const [name, setName] = useState('');
  const [isShared, setShared] = useState(false);
  const navigate = useNavigate();
  const params = { application_id: application };
  const body = { name: name.trim(), is_shared: isShared, table };
  return (
    <FormDialog
      title="Save view"
      action="Save"
      missing={isBlankViewName(name) && 'Give a name'}
      requests={[['createRunView', { params, body }]]}
      onClose={onClose}
      onSubmit={async () => {
        const { body: view } = await client.call('createRunView', { params, body });
        await onSaved();
        await navigate({
          to: '/apps/$application/runs',
          params: { application },
          search: { ...readView(view.table), view: view.id },
        });
      }}
    >
      <p>A view stores filters, order and columns. The runs in it are those that match when it is opened.</p>
      <ViewName name={name} onChange={setName} />
      <SelectField
        label="Visible to"
        value={isShared ? 'all' : 'me'}
        options={[
          { value: 'me', label: 'Only me' },
          { value: 'all', label: 'Every member of the account' },
        ]}
        onChange={(value) => setShared(value === 'all')}
      />
    </FormDialog>
  );
}

/** Reads the present state of the view. */
async function fetchView(application_id: string, id: string): Promise<RunView> {
  const { body } = await client.call('listRunViews', { params: { application_id } });
  const view = body.items.find((one) => one.id === id);
  if (!view) throw new Error('The view was deleted meanwhile.');
  return view;
}

/** Changes the name of a view. */
export function RenameViewDialog({ application, view, onSaved, onClose }: DialogProps & { view: RunView }) {
  const params = { application_id: application, view_id: view.id };
  const { draft, change, seen, load } = useEdit({
    resource: view,
    fetch: () => fetchView(application, view.id),
    createDraft: (state) => ({ name: state.name }),
    labels: { name: 'Name' },
  });
  const { name } = draft;
  const body = { name: name.trim() };
  return (
    <FormDialog
      title="Rename view"
      action="Save"
      missing={isBlankViewName(name) && 'Give a name'}
      requests={[['updateRunView', { params, body }]]}
      onClose={onClose}
      onLoad={load}
      onSubmit={async () => {
        await client.call('updateRunView', {
          params,
          body: { ...body, expected_updated_at: seen.updated_at },
        });
        await onSaved();
      }}
    >
      <ViewName name={name} onChange={(value) => change({ name: value })} />
    </FormDialog>
  );
}

function ViewName({ name, onChange }: { name: string; onChange: (name: string) => void }) {
  const isRefused = name !== '' && isBlankViewName(name);
  return (
    <TextField
      label="Name"
      error={isRefused ? 'The name is blank. Give at least one visible character.' : undefined}
      value={name}
      onChange={onChange}
      autoFocus
    />
  );
}

/** Deletes a view after a confirmation. */
export function DeleteViewDialog({ application, view, onSaved, onClose }: DialogProps & { view: RunView }) {
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      title="Delete the view?"
      word={CONFIRMATION}
      action="Delete view"
      onConfirm={async () => {
        const params = { application_id: application, view_id: view.id };
        await client.call('deleteRunView', { params });
        await onSaved();
        await navigate({ to: '/apps/$application/runs', params: { application } });
      }}
      onClose={onClose}
    >
      <p>
        <q>{view.name}</q> is deleted{view.is_shared && ' for every member of the account'}. Its runs stay.
      </p>
    </ConfirmDialog>
  );
}
