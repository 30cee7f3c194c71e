import type { TypeWith } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { endEarly, startDraft } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client, describeError } from '../../../client/client.ts';
import { queryClient } from '../../../client/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { useRight } from '../../../ui/use-right.ts';

type OnlineType = TypeWith<'isLive'>;
type EndAction = 'complete' | 'cancel';
type Action = 'start' | EndAction;

interface OnlineActionsProps {
  type: OnlineType;
  application: string;
  id: string;
  status: string;
}

/** The next action of a test: starts a draft, or ends a started test with the results so far. */
export function OnlineActions(props: OnlineActionsProps) {
  const { status, ...address } = props;
  const start = useMutation({
    mutationFn: () => runAction({ ...address, name: 'start' }),
    onSettled: () => queryClient.invalidateQueries(),
  });
  if (!useRight('experiment')) return null;
  if (status === 'started') return <EndTest {...props} action="complete" />;
  if (status !== 'draft') return null;
  return (
    <>
      <Button kind="primary" onPress={() => start.mutate()} isDisabled={start.isPending}>
        Start
      </Button>
      {start.isError && <Notice kind="error">{describeError(start.error)}</Notice>}
    </>
  );
}

/** Ends a started test: `complete` with results that count, `cancel` as canceled. */
export function EndTest({ action, status, ...address }: OnlineActionsProps & { action: EndAction }) {
  const [isOpen, setOpen] = useState(false);
  if (status !== 'started') return null;
  return (
    <>
      <Button kind={action === 'complete' ? 'primary' : 'plain'} onPress={() => setOpen(true)}>
        {action === 'complete' ? 'Stop and keep results' : 'Cancel test'}
      </Button>
      {isOpen && (
        <EndDialog
          action={action}
          id={address.id}
          onConfirm={async () => {
            await runAction({ ...address, name: action });
            setOpen(false);
            await queryClient.invalidateQueries();
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

interface EndDialogProps {
  action: EndAction;
  id: string;
  onConfirm: () => Promise<void>;
  onClose: () => void;
}

/** Asks before a test ends. Its id is typed where its results will not count. */
function EndDialog({ action, id, ...rest }: EndDialogProps) {
  if (action === 'cancel')
    return (
      <ConfirmDialog title={`Cancel ${id}?`} word={id} action="Cancel test" {...rest}>
        <p>The test ends as canceled, and cannot continue.</p>
      </ConfirmDialog>
    );
  return (
    <ConfirmDialog title={`Stop ${id}?`} action="Stop test" {...rest}>
      <p>The test ends now with the results so far, and cannot continue.</p>
    </ConfirmDialog>
  );
}

interface OnlineAction {
  type: OnlineType;
  application: string;
  id: string;
  name: Action;
}

/** Sends the action. Throws the refusal of the server. */
function runAction({ name, ...address }: OnlineAction): Promise<void> {
  return name === 'start' ? startDraft(client, address) : endEarly(client, address, name);
}
