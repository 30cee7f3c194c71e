import { useMutation } from '@tanstack/react-query';
import { client, describeError } from '../../../client/client.ts';
import { queryClient } from '../../../client/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { useRight } from '../../../ui/use-right.ts';
import styles from '../experiment-page.module.css';

type OnlineType = 'shadow' | 'switchback';
type Action = 'start' | 'complete' | 'cancel';

interface OnlineActionsProps {
  type: OnlineType;
  application: string;
  id: string;
  status: string;
}

/** Starts a draft; ends a started test, with results that count or that do not. */
export function OnlineActions({ type, application, id, status }: OnlineActionsProps) {
  const mayChange = useRight('experiment');
  const action = useMutation({
    mutationFn: (name: Action) => runAction({ type, application, id, name }),
    onSettled: () => queryClient.invalidateQueries(),
  });
  if (!mayChange || (status !== 'draft' && status !== 'started')) return null;
  return (
    <div className={styles.actions}>
      {status === 'draft' ? (
        <Button kind="primary" onPress={() => action.mutate('start')} isDisabled={action.isPending}>
          Start
        </Button>
      ) : (
        <>
          <Button onPress={() => action.mutate('complete')} isDisabled={action.isPending}>
            Stop and keep results
          </Button>
          <Button kind="danger" onPress={() => action.mutate('cancel')} isDisabled={action.isPending}>
            Cancel test
          </Button>
        </>
      )}
      {action.isError && <Notice kind="error">{describeError(action.error)}</Notice>}
    </div>
  );
}

interface OnlineAction {
  type: OnlineType;
  application: string;
  id: string;
  name: Action;
}

/** Sends the action. Throws the refusal of the server. */
async function runAction({ type, application, id, name }: OnlineAction): Promise<void> {
  const params = { application_id: application, shadow_id: id, switchback_id: id };
  if (name === 'start')
    await (type === 'shadow'
      ? client.call('startShadowTest', { params })
      : client.call('startSwitchbackTest', { params }));
  else
    await (type === 'shadow'
      ? client.call('stopShadowTest', { params, body: { intent: name } })
      : client.call('stopSwitchbackTest', { params, body: { intent: name } }));
}
