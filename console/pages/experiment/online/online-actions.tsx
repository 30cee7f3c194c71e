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

interface OnlineActionsProps<Type extends TypeWith<'canStop'> = TypeWith<'isLive'>> {
  type: Type;
  application: string;
  id: string;
  status: string;
}

/** The next action of a test: starts a draft, or ends a started test with the results so far. */
export function OnlineActions(props: OnlineActionsProps) {
  const { status, ...address } = props;
  const start = useMutation({
    mutationFn: () => startDraft(client, address),
    onSettled: () => queryClient.invalidateQueries(),
  });
  const mayChange = useRight('experiment');
  if (status !== 'draft') return <EndTest {...props} intent="complete" />;
  if (!mayChange) return null;
  return (
    <>
      <Button kind="primary" onPress={() => start.mutate()} isDisabled={start.isPending}>
        Start
      </Button>
      {start.isError && <Notice kind="error">{describeError(start.error)}</Notice>}
    </>
  );
}

/** The button of each end, and what it does. */
const ENDS = {
  complete: { action: 'Stop and keep results', effect: 'The test ends now with the results so far' },
  cancel: { action: 'Cancel test', effect: 'The test ends as canceled' },
  search: {
    action: 'Stop the search',
    effect: 'Its runs are canceled, and the steps so far stay. The search ends',
  },
};

type EndTestProps = OnlineActionsProps<TypeWith<'canStop'>> & { intent: keyof typeof ENDS };

/** Ends a started test after a question. Its id is typed where its results will not count. */
export function EndTest({ intent, status, ...address }: EndTestProps) {
  const [isOpen, setOpen] = useState(false);
  const { action, effect } = ENDS[intent];
  const mayChange = useRight('experiment');
  if (!mayChange || status !== 'started') return null;
  return (
    <>
      <Button kind={intent === 'cancel' ? 'plain' : 'primary'} onPress={() => setOpen(true)}>
        {action}
      </Button>
      {isOpen && (
        <ConfirmDialog
          title={`${action}?`}
          {...(intent !== 'complete' && { word: address.id })}
          action={action}
          isHarmless={intent === 'complete'}
          onConfirm={async () => {
            await endEarly(client, address, intent === 'complete' ? 'complete' : 'cancel');
            setOpen(false);
            await queryClient.invalidateQueries();
          }}
          onClose={() => setOpen(false)}
        >
          <p>{effect}, and cannot continue.</p>
        </ConfirmDialog>
      )}
    </>
  );
}
