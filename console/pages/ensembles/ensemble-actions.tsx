import type { Ensemble } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { RenameDialog } from '../../ui/resources/rename-dialog.tsx';
import { useRight } from '../../ui/use-right.ts';
import { refreshEnsembles } from './queries.ts';
import { StartRun } from './start-run.tsx';

interface EnsembleProps {
  application: string;
  ensemble: Ensemble;
}

/** Buttons that run an ensemble and change it, as far as the role may. */
export function EnsembleActions(props: EnsembleProps) {
  const [dialog, setDialog] = useState<'run' | 'rename' | 'delete'>();
  const close = () => setDialog(undefined);
  const canRun = useRight('run');
  const canChange = useRight('experiment');
  return (
    <>
      {canChange && (
        <MoreMenu>
          <Button onPress={() => setDialog('rename')}>Rename</Button>
          <Button onPress={() => setDialog('delete')}>Delete</Button>
        </MoreMenu>
      )}
      {canRun && (
        <Button kind="primary" onPress={() => setDialog('run')}>
          New run
        </Button>
      )}
      {dialog === 'run' && <StartRun {...props} onClose={close} />}
      {dialog === 'rename' && <RenameEnsemble {...props} onClose={close} />}
      {dialog === 'delete' && <DeleteEnsemble {...props} onClose={close} />}
    </>
  );
}

type DialogProps = EnsembleProps & { onClose: () => void };

function RenameEnsemble({ application, ensemble, onClose }: DialogProps) {
  const params = { application_id: application, ensemble_id: ensemble.id };
  return (
    <RenameDialog
      noun="ensemble"
      current={ensemble}
      fetchCurrent={async () => (await client.call('getEnsemble', { params })).body}
      buildRequest={(body) => ['updateEnsemble', { params, body }]}
      onRename={async (body, condition) => {
        await client.call('updateEnsemble', { params, body: { ...body, ...condition } });
        await refreshEnsembles();
        onClose();
      }}
      onClose={onClose}
    >
      <p>Groups and rules never change, so that its runs stay comparable.</p>
    </RenameDialog>
  );
}

function DeleteEnsemble({ application, ensemble: { id }, onClose }: DialogProps) {
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      title={`Delete ${id}?`}
      word={id}
      action="Delete ensemble"
      onClose={onClose}
      onConfirm={async () => {
        await client.call('deleteEnsemble', { params: { application_id: application, ensemble_id: id } });
        await navigate({ to: '/apps/$application/ensembles', params: { application } });
        await refreshEnsembles();
      }}
    >
      <p>Its runs stay, and those that have not ended continue with their groups and rules.</p>
    </ConfirmDialog>
  );
}
