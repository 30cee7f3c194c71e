import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import { isActionAllowed } from '@switchyard/contract/states.ts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useIsLost } from '../../client/connection.ts';
import { queryClient } from '../../client/queries.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { CancelRunsDialog } from '../../ui/destruction/cancel-runs-dialog.tsx';
import { useRight } from '../../ui/use-right.ts';
import { COMPARED_RUNS_MAX, COMPARED_RUNS_MIN } from '../compare/search.ts';
import { cancelRuns, deleteRuns, runAgain } from './bulk-actions.ts';
import styles from './runs-page.module.css';

const CONFIRMATION = 'delete';

const refreshRuns = () => queryClient.invalidateQueries({ queryKey: ['listRuns'] });
const countRuns = (count: number) => formatCount(count, 'run');

/** The actions on the selected runs, in a bar above the foot of the page. */
export function RunActions({
  application,
  runs,
  onDone,
}: {
  application: string;
  runs: readonly Run[];
  /** Called after an action that leaves nothing to select. */
  onDone: () => Promise<void>;
}) {
  const isLost = useIsLost();
  const canRun = useRight('run');
  const navigate = useNavigate();
  const ids = runs.map(({ id }) => id);
  const repeatable = runs.filter(({ run_type }) => run_type.type !== 'external').map(({ id }) => id);
  const cancelable = runs.filter((run) => isActionAllowed('cancel', run.status_v2));
  const canCompare = ids.length >= COMPARED_RUNS_MIN && ids.length <= COMPARED_RUNS_MAX;
  const compare = () =>
    void navigate({
      to: '/apps/$application/compare',
      params: { application },
      search: { runs: ids.join(',') },
    });
  if (ids.length === 0) return null;
  return (
    <fieldset className={styles.actions} aria-label="Selected runs" inert={isLost}>
      <span className={styles.count} role="status">
        {countRuns(ids.length)} selected
      </span>
      <Button onPress={compare} isDisabled={!canCompare}>
        Compare
      </Button>
      {canRun && (
        <>
          <RunAgainButton application={application} runs={repeatable} onDone={onDone} />
          <CancelButton application={application} runs={cancelable} />
          <DeleteButton application={application} runs={ids} onDone={onDone} />
        </>
      )}
    </fieldset>
  );
}

interface BulkButtonProps {
  application: string;
  runs: readonly string[];
  onDone: () => Promise<void>;
}

function RunAgainButton({ application, runs, onDone }: BulkButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onPress={() => setOpen(true)} isDisabled={runs.length === 0}>
        Run again
      </Button>
      {isOpen && (
        <ConfirmDialog
          title={`Run ${countRuns(runs.length)} again?`}
          action={`Create ${countRuns(runs.length)}`}
          isHarmless
          onConfirm={async () => {
            await runAgain(application, runs).finally(refreshRuns);
            setOpen(false);
            await onDone();
          }}
          onClose={() => setOpen(false)}
        >
          <p>
            Each new run has the name, instance, options and input of its original. The instance decides the
            version, so it may be a newer one.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

function CancelButton({ application, runs }: { application: string; runs: readonly Run[] }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const cancel = () =>
    cancelRuns(
      application,
      runs.map(({ id }) => id),
    );
  return (
    <>
      <Button onPress={() => setOpen(true)} isDisabled={runs.length === 0}>
        Cancel
      </Button>
      {isOpen && (
        <CancelRunsDialog
          count={runs.length}
          name={runs[0]?.name || runs[0]?.id || 'the run'}
          onConfirm={async () => {
            await cancel().finally(refreshRuns);
            close();
          }}
          onClose={close}
        />
      )}
    </>
  );
}

function DeleteButton({ application, runs, onDone }: BulkButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onPress={() => setOpen(true)} isDisabled={runs.length === 0}>
        Delete
      </Button>
      {isOpen && (
        <ConfirmDialog
          title={`Delete ${countRuns(runs.length)}?`}
          word={CONFIRMATION}
          action={`Delete ${countRuns(runs.length)}`}
          onConfirm={async () => {
            await deleteRuns(application, runs).finally(refreshRuns);
            setOpen(false);
            await onDone();
          }}
          onClose={() => setOpen(false)}
        >
          <p>
            Input, output, log and assets of each run are deleted. A run that is queued or running is stopped.
            This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
