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

/** Starts a draft; ends a started test, with results that count or that do not. */
export function OnlineActions({ type, application, id, status }: OnlineActionsProps) {
  const mayChange = useRight('experiment');
  const [dialog, setDialog] = useState<EndAction>();
  const action = useMutation({
    mutationFn: () => runAction({ type, application, id, name: 'start' }),
    onSettled: () => queryClient.invalidateQueries(),
  });
  if (!mayChange || (status !== 'draft' && status !== 'started')) return null;
  return (
    <div className="line">
      {status === 'draft' ? (
        <Button kind="primary" onPress={() => action.mutate()} isDisabled={action.isPending}>
          Start
        </Button>
      ) : (
        <>
          <Button onPress={() => setDialog('complete')} isDisabled={action.isPending}>
            Stop and keep results
          </Button>
          <Button onPress={() => setDialog('cancel')} isDisabled={action.isPending}>
            Cancel test
          </Button>
        </>
      )}
      {action.isError && <Notice kind="error">{describeError(action.error)}</Notice>}
      {dialog && (
        <EndDialog
          action={dialog}
          id={id}
          onConfirm={async () => {
            await runAction({ type, application, id, name: dialog });
            setDialog(undefined);
            await queryClient.invalidateQueries();
          }}
          onClose={() => setDialog(undefined)}
        />
      )}
    </div>
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
