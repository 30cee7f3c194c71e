import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isActionAllowed, isTerminal } from '@switchyard/contract/states.ts';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client, describeError } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { CancelRunsDialog } from '../../ui/destruction/cancel-runs-dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useRight } from '../../ui/use-right.ts';
import { getRunParams, type RunAddress, replaysQuery, runQuery } from './queries.ts';
import styles from './run-actions.module.css';
import { ShareDialog } from './share-dialog.tsx';

interface ActionsProps {
  address: RunAddress;
  run: RunInformation;
}

/** The actions that the status of the run and the role of the person allow. */
export function RunActions({ address, run }: ActionsProps) {
  const mayRun = useRight('run');
  const [isDeleting, setDeleting] = useState(false);
  const [isCanceling, setCanceling] = useState(false);
  const [isSharing, setSharing] = useState(false);
  const replay = useReplay(address);
  const canReplay = isTerminal(run.status_v2) && run.run_type.type === 'standard';
  const refusal = replay.error;
  return (
    <>
      {mayRun && isActionAllowed('cancel', run.status_v2) && (
        <Button onPress={() => setCanceling(true)}>Cancel</Button>
      )}
      <Destinations address={address} run={run} mayRun={mayRun} />
      {mayRun && <Button onPress={() => setSharing(true)}>Share</Button>}
      {mayRun && canReplay && (
        <Button onPress={() => replay.mutate()} isDisabled={replay.isPending}>
          Replay
        </Button>
      )}
      {mayRun && <Button onPress={() => setDeleting(true)}>Delete</Button>}
      {isSharing && <ShareDialog address={address} onClose={() => setSharing(false)} />}
      {isCanceling && <CancelDialog address={address} run={run} onClose={() => setCanceling(false)} />}
      {isDeleting && <DeleteDialog address={address} run={run} onClose={() => setDeleting(false)} />}
      {refusal && (
        <div className={styles.refusal}>
          <Notice kind="error">{describeError(refusal)}</Notice>
        </div>
      )}
    </>
  );
}

/** Links to the pages that start from this run. One that repeats another is compared with it. */
function Destinations({ address, run, mayRun }: ActionsProps & { mayRun: boolean }) {
  const { application } = address;
  const original = run.metadata.tracking?.cloned_run_id;
  const runs = [original, run.id].filter(Boolean).join(',');
  return (
    <>
      {mayRun && (
        <LinkButton to="/apps/$application/new-run" params={{ application }} search={{ from: run.id }}>
          Run again
        </LinkButton>
      )}
      <LinkButton to="/apps/$application/compare" params={{ application }} search={{ runs }}>
        Compare
      </LinkButton>
    </>
  );
}

/** Creates a replay; the summary shows it with its comparison. */
function useReplay(address: RunAddress) {
  return useMutation({
    mutationFn: () => client.call('replayRun', { params: getRunParams(address) }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: replaysQuery(address).queryKey }),
  });
}

function CancelDialog({ address, run, onClose }: ActionsProps & { onClose: () => void }) {
  return (
    <CancelRunsDialog
      count={1}
      name={run.name || run.id}
      onConfirm={async () => {
        await client.call('cancelRun', { params: getRunParams(address) });
        await queryClient.invalidateQueries({ queryKey: runQuery(address).queryKey });
        onClose();
      }}
      onClose={onClose}
    />
  );
}

function DeleteDialog({ address, run, onClose }: ActionsProps & { onClose: () => void }) {
  const navigate = useNavigate();
  const remove = async () => {
    await client.call('deleteRun', { params: getRunParams(address) });
    await navigate({ to: '/apps/$application/runs', params: { application: address.application } });
    queryClient.removeQueries({ queryKey: runQuery(address).queryKey });
  };
  return (
    <ConfirmDialog
      title="Delete this run?"
      word="delete"
      action="Delete run"
      onConfirm={remove}
      onClose={onClose}
    >
      <p>
        <bdi>{run.name || run.id}</bdi> is deleted with its input, output, assets and log. This cannot be
        undone.
        {isTerminal(run.status_v2) ? '' : ' Its app is stopped.'}
      </p>
    </ConfirmDialog>
  );
}
