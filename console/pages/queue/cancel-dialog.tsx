import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { cancelRun } from './queries.ts';

/** Asks before a run is canceled. */
export function CancelDialog({ run, onClose }: { run: ActiveRun; onClose: () => void }) {
  const name = run.name || run.id;
  return (
    <ConfirmDialog
      title={`Cancel ${name}?`}
      word="cancel"
      action="Cancel the run"
      onConfirm={async () => {
        await cancelRun({ application_id: run.application_id, run_id: run.id });
        onClose();
      }}
      onClose={onClose}
    >
      <p>
        The run stops without a result. It keeps its input, its options and its log, so you can run it again.
      </p>
    </ConfirmDialog>
  );
}
