import { ConfirmDialog } from '../confirm-dialog.tsx';

interface CancelRunsDialogProps {
  /** Number of runs. */
  count: number;
  /** Name or id of a single run. */
  name: string;
  onConfirm: () => Promise<void>;
  onClose: () => void;
}

/** Asks before runs are canceled. Nothing is typed: the runs stay, and can run again. */
export function CancelRunsDialog({ count, name, onConfirm, onClose }: CancelRunsDialogProps) {
  const isSingle = count === 1;
  return (
    <ConfirmDialog
      title={isSingle ? `Cancel ${name}?` : `Cancel ${count} runs?`}
      action={isSingle ? 'Cancel the run' : `Cancel ${count} runs`}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>
        {isSingle
          ? 'The app has 5 s to print what it has found. The run keeps its input, its options and its log, so you can run it again.'
          : 'Each app has 5 s to print what it has found. The runs keep their inputs, options and logs, so you can run them again.'}
      </p>
    </ConfirmDialog>
  );
}
