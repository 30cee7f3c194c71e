import type { InputSet } from '@switchyard/contract/applications/input-sets.ts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { useEdit } from '../../ui/forms/conflicts/use-edit.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { RenameDialog } from '../../ui/resources/rename-dialog.tsx';
import { useRight } from '../../ui/use-right.ts';
import { InputChoices } from './input-choices.tsx';
import { refreshInputSets } from './queries.ts';

interface InputSetProps {
  application: string;
  set: InputSet;
}

/** Buttons that change an input set, for a role that may experiment. */
export function InputSetActions(props: InputSetProps) {
  const [dialog, setDialog] = useState<'rename' | 'edit' | 'delete'>();
  const close = () => setDialog(undefined);
  if (!useRight('experiment')) return null;
  return (
    <>
      <Button onPress={() => setDialog('edit')}>Edit inputs</Button>
      <MoreMenu>
        <Button onPress={() => setDialog('rename')}>Rename</Button>
        <Button onPress={() => setDialog('delete')}>Delete</Button>
      </MoreMenu>
      {dialog === 'rename' && <RenameInputSet {...props} onClose={close} />}
      {dialog === 'edit' && <EditInputs {...props} onClose={close} />}
      {dialog === 'delete' && <DeleteInputSet {...props} onClose={close} />}
    </>
  );
}

type DialogProps = InputSetProps & { onClose: () => void };

function RenameInputSet({ application, set, onClose }: DialogProps) {
  const params = { application_id: application, input_set_id: set.id };
  return (
    <RenameDialog
      noun="input set"
      current={set}
      fetchCurrent={async () => (await client.call('getInputSet', { params })).body}
      buildRequest={(body) => ['updateInputSet', { params, body }]}
      onRename={async (body, condition) => {
        await client.call('updateInputSet', { params, body: { ...body, ...condition } });
        await refreshInputSets();
        onClose();
      }}
      onClose={onClose}
    />
  );
}

/** Removes inputs from the set, and adds managed inputs to it. */
function EditInputs({ application, set, onClose }: DialogProps) {
  const params = { application_id: application, input_set_id: set.id };
  const { draft, change, seen, load } = useEdit({
    resource: set,
    fetch: async () => (await client.call('getInputSet', { params })).body,
    createDraft: ({ input_ids }) => ({ chosen: input_ids }),
    labels: { chosen: 'Inputs' },
  });
  const chosen = new Set(draft.chosen);
  const body = { inputs: [...chosen].map((id) => ({ id })) };
  return (
    <FormDialog
      title="Edit inputs"
      action="Save"
      missing={chosen.size === 0 && 'Choose an input'}
      requests={[['updateInputSet', { params, body }]]}
      onClose={onClose}
      onLoad={load}
      onSubmit={async () => {
        await client.call('updateInputSet', {
          params,
          body: { ...body, expected_updated_at: seen.updated_at },
        });
        await refreshInputSets();
        onClose();
      }}
    >
      <p>
        Inputs of the set stay as they were copied. Experiments on the set keep the inputs they began with.
      </p>
      <InputChoices
        application={application}
        listed={seen.inputs}
        chosen={chosen}
        onChange={(inputs) => change({ chosen: [...inputs] })}
      />
    </FormDialog>
  );
}

function DeleteInputSet({ application, set, onClose }: DialogProps) {
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      title={`Delete ${set.id}?`}
      word={set.id}
      action="Delete input set"
      onClose={onClose}
      onConfirm={async () => {
        await client.call('deleteInputSet', {
          params: { application_id: application, input_set_id: set.id },
        });
        await navigate({ to: '/apps/$application/input-sets', params: { application } });
        await refreshInputSets();
      }}
    >
      <p>Experiments on the set have their own inputs and stay, and so do its runs and managed inputs.</p>
    </ConfirmDialog>
  );
}
