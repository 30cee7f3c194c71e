import { findSolveCaveat } from '@switchyard/contract/runs/presentation/describe-solve.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isActionAllowed, isTerminal } from '@switchyard/contract/states.ts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { applicationQuery } from '../../client/applications.ts';
import { client, describeError } from '../../client/client.ts';
import { useMeaning } from '../../client/indicator-meaning.ts';
import { queryClient } from '../../client/queries.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { CancelRunsDialog } from '../../ui/destruction/cancel-runs-dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { useRight } from '../../ui/use-right.ts';
import { getRunParams, type RunAddress, replaysQuery, runQuery, seriesQuery } from './queries.ts';
import styles from './run-page.module.css';
import { ShareDialog } from './share-dialog.tsx';

interface ActionsProps {
  address: RunAddress;
  run: RunInformation;
}

/** The name of the run, and the actions that its status and the role of the person allow. */
export function RunHeader({ address, run }: ActionsProps) {
  const mayRun = useRight('run');
  const [dialog, setDialog] = useState<'cancel' | 'delete' | 'share'>();
  const close = () => setDialog(undefined);
  const replay = useReplay(address);
  const canReplay = isTerminal(run.status_v2) && run.run_type.type === 'standard';
  const canCancel = isActionAllowed('cancel', run.status_v2);
  // The app of such a run can print its best output before it ends.
  const isStoppable = run.status_v2 === 'running' && run.run_type.type === 'standard';
  const stop = useStop(address);
  const { application } = address;
  // A run that repeats another is compared with it.
  const runs = [run.metadata.tracking?.cloned_run_id, run.id].filter(Boolean).join(',');
  const again = (kind: 'primary' | 'plain') => (
    <LinkButton
      kind={kind}
      to="/apps/$application/new-run"
      params={{ application }}
      search={{ from: run.id }}
    >
      Run again
    </LinkButton>
  );
  return (
    <>
      <PageHeader
        title={<bdi>{run.name || run.id}</bdi>}
        badge={
          <>
            <StatusBadge status={run.status_v2} /> <SolveCaveat address={address} run={run} />
          </>
        }
        description={<HeadFacts run={run} />}
        quiet={
          <>
            <LinkButton
              kind="quiet"
              to="/apps/$application/compare"
              params={{ application }}
              search={{ runs }}
            >
              Compare
            </LinkButton>
            {mayRun && (
              <Button kind="quiet" onPress={() => setDialog('share')}>
                Share
              </Button>
            )}
          </>
        }
        actions={
          mayRun &&
          (isStoppable ? (
            <Button kind="primary" onPress={() => stop.mutate()} isDisabled={stop.isPending}>
              Stop and keep the best
            </Button>
          ) : (
            !canCancel && again('primary')
          ))
        }
        menu={
          mayRun && (
            <>
              {canCancel && again('plain')}
              {canCancel && !isStoppable && <Button onPress={() => setDialog('cancel')}>Cancel …</Button>}
              {canReplay && (
                <Button onPress={() => replay.mutate()} isDisabled={replay.isPending}>
                  Replay
                </Button>
              )}
              <BaselineButton run={run} />
              <Button onPress={() => setDialog('delete')}>
                {isStoppable ? 'Discard and delete …' : 'Delete …'}
              </Button>
            </>
          )
        }
      />
      {replay.error && <Notice kind="error">{describeError(replay.error)}</Notice>}
      {stop.error && <Notice kind="error">{describeError(stop.error)}</Notice>}
      {dialog === 'share' && <ShareDialog address={address} onClose={close} />}
      {dialog === 'cancel' && <CancelDialog address={address} run={run} onClose={close} />}
      {dialog === 'delete' && <DeleteDialog address={address} run={run} onClose={close} />}
    </>
  );
}

/** Says beside the status that a solver stopped early, or that the model has no solution. */
function SolveCaveat({ address, run }: ActionsProps) {
  const { data } = useQuery(seriesQuery(address));
  const caveat = isTerminal(run.status_v2) ? findSolveCaveat(data?.solves ?? []) : undefined;
  return caveat && <span className={styles.caveat}>{caveat}</span>;
}

/** The id, and what was executed for whom and when. */
function HeadFacts({ run }: { run: RunInformation }) {
  const attempts = (run.metadata.lost_attempts?.length ?? 0) + 1;
  return (
    <div className={styles.head}>
      <span>
        <code>{run.id}</code> <CopyButton text={run.id} label="Copy run id" />
      </span>
      <span>
        <bdi className={styles.instance}>{run.application_instance_id || 'latest'}</bdi>{' '}
        <bdi>{run.application_version_id}</bdi>
      </span>
      {attempts > 1 && <span>attempt {attempts}</span>}
      <span>
        {run.user_email !== '' && `${run.user_email}, `}
        <RelativeTime at={run.created_at} />
      </span>
    </div>
  );
}

/** Makes a succeeded run the one with which others of the application are compared. */
function BaselineButton({ run: { id, application_id, status_v2 } }: Pick<ActionsProps, 'run'>) {
  const { baseline } = useMeaning(application_id);
  const mayWrite = useRight('write');
  const choose = useMutation({
    mutationFn: () =>
      client.call('updateApplication', {
        params: { application_id },
        body: { baseline_run_id: baseline === id ? null : id },
      }),
    onSuccess: ({ body }) => queryClient.setQueryData(applicationQuery(application_id).queryKey, body),
  });
  if (!mayWrite || status_v2 !== 'succeeded') return null;
  return (
    <Button onPress={() => choose.mutate()} isDisabled={choose.isPending}>
      {baseline === id ? 'No longer the baseline' : 'Use as baseline'}
    </Button>
  );
}

/** Creates a replay; the summary shows it with its comparison. */
function useReplay(address: RunAddress) {
  return useMutation({
    mutationFn: () => client.call('replayRun', { params: getRunParams(address) }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: replaysQuery(address).queryKey }),
  });
}

/** Ends the app of the run, which can print its best output. The page says before what that does. */
function useStop(address: RunAddress) {
  return useMutation({
    mutationFn: () => client.call('cancelRun', { params: getRunParams(address) }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: runQuery(address).queryKey }),
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
