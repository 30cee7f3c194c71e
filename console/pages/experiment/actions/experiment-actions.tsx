import { EXPERIMENTS, type ExperimentType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import {
  buildExperimentParams,
  deleteExperiment,
  nameOperation,
  updateExperiment,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../../client/client.ts';
import { queryClient } from '../../../client/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { RenameDialog } from '../../../ui/resources/rename-dialog.tsx';

interface ExperimentActionsProps {
  type: ExperimentType;
  application: string;
  experiment: { id: string; name: string; description: string };
}

/** Buttons of the menu that rename and delete an experiment. */
export function ExperimentActions(props: ExperimentActionsProps) {
  const [dialog, setDialog] = useState<'rename' | 'delete'>();
  const close = () => setDialog(undefined);
  return (
    <>
      <Button onPress={() => setDialog('rename')}>Rename</Button>
      <Button onPress={() => setDialog('delete')}>Delete</Button>
      {dialog === 'rename' && <RenameExperiment {...props} onClose={close} />}
      {dialog === 'delete' && <DeleteExperiment {...props} onClose={close} />}
    </>
  );
}

type DialogProps = ExperimentActionsProps & { onClose: () => void };

function RenameExperiment({ type, application, experiment, onClose }: DialogProps) {
  const address = { type, application, id: experiment.id };
  return (
    <RenameDialog
      noun="experiment"
      current={experiment}
      buildRequest={(body) => [
        nameOperation('update', type),
        { params: buildExperimentParams(address), body },
      ]}
      onRename={async (body) => {
        await updateExperiment(client, address, body);
        await queryClient.invalidateQueries();
        onClose();
      }}
      onClose={onClose}
    >
      <p>Its settings and rules never change, so that its result stays what was planned.</p>
    </RenameDialog>
  );
}

function DeleteExperiment({ type, application, experiment: { id }, onClose }: DialogProps) {
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      title={`Delete ${id}?`}
      word={id}
      action="Delete experiment"
      onClose={onClose}
      onConfirm={async () => {
        await deleteExperiment(client, { type, application, id });
        await navigate({ to: '/apps/$application/experiments', params: { application } });
        await queryClient.invalidateQueries({ queryKey: ['listExperimentSummaries', application] });
      }}
    >
      <p>{EXPERIMENTS[type].deletion} Input sets and instances stay.</p>
    </ConfirmDialog>
  );
}
