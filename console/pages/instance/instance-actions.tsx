import type { Instance } from '@switchyard/contract/applications/instances.ts';
import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { applicationQuery } from '../../client/applications.ts';
import { client, describeError } from '../../client/client.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { SendError } from '../../ui/forms/conflicts/send-error.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useSetDefault } from '../../ui/resources/use-set-default.ts';
import { useRight } from '../../ui/use-right.ts';
import { refreshInstances } from './queries.ts';

interface InstanceProps {
  application: string;
  instance: Instance;
}

/** Buttons that run an instance, and those that lock, promote and delete it, as far as the role may. */
export function InstanceActions({ application, instance }: InstanceProps) {
  const canWrite = useRight('write');
  const mayRun = useRight('run');
  return (
    <>
      <LinkButton
        kind="quiet"
        to="/apps/$application/runs"
        params={{ application }}
        search={{ instance: instance.id }}
      >
        Runs
      </LinkButton>
      {mayRun && (
        <LinkButton
          to="/apps/$application/new-run"
          params={{ application }}
          search={{ instance: instance.id }}
        >
          New run
        </LinkButton>
      )}
      {canWrite && !isLatest(instance.id) && <ChangeButtons application={application} instance={instance} />}
    </>
  );
}

function ChangeButtons({ application, instance }: InstanceProps) {
  const { data } = useSuspenseQuery(applicationQuery(application));
  const [isDeleting, setDeleting] = useState(false);
  const params = { application_id: application };
  const lock = useMutation({
    mutationFn: (locked: boolean) =>
      client.call('setInstanceLock', { params: { ...params, instance_id: instance.id }, body: { locked } }),
    onSuccess: refreshInstances,
  });
  const promotion = useSetDefault(application);
  return (
    <>
      {lock.isError && <Notice kind="error">{describeError(lock.error)}</Notice>}
      <SendError sending={promotion.sending} onLoad={promotion.load} />
      {data.default_instance !== instance.id && (
        <Button
          kind="quiet"
          onPress={() => promotion.sending.mutate(instance.id)}
          isDisabled={promotion.sending.isPending}
        >
          Set as default
        </Button>
      )}
      <MoreMenu>
        <Button onPress={() => lock.mutate(!instance.locked)} isDisabled={lock.isPending}>
          {instance.locked ? 'Unlock' : 'Lock'}
        </Button>
        {!instance.locked && <Button onPress={() => setDeleting(true)}>Delete</Button>}
      </MoreMenu>
      {isDeleting && (
        <DeleteInstance application={application} instance={instance} onClose={() => setDeleting(false)} />
      )}
    </>
  );
}

function DeleteInstance({ application, instance: { id }, onClose }: InstanceProps & { onClose: () => void }) {
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      title={`Delete ${id}?`}
      word={id}
      action="Delete instance"
      onClose={onClose}
      onConfirm={async () => {
        await client.call('deleteInstance', { params: { application_id: application, instance_id: id } });
        await navigate({ to: '/apps/$application', params: { application } });
        await refreshInstances();
      }}
    >
      <p>Callers that name it get a 404. Its version and its runs stay.</p>
    </ConfirmDialog>
  );
}
