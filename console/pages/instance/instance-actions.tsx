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
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { ResourceHeading } from '../../ui/resources/resource-heading.tsx';
import { useSetDefault } from '../../ui/resources/use-set-default.ts';
import { useRight } from '../../ui/use-right.ts';
import { refreshInstances } from './queries.ts';

interface InstanceProps {
  application: string;
  instance: Instance;
}

/** The head of an instance: what runs it, and what locks, promotes and deletes it, as far as the role may. */
export function InstanceHeader({ application, instance }: InstanceProps) {
  const { data } = useSuspenseQuery(applicationQuery(application));
  const mayRun = useRight('run');
  const canWrite = useRight('write') && !isLatest(instance.id);
  const [isDeleting, setDeleting] = useState(false);
  const params = { application_id: application, instance_id: instance.id };
  const lock = useMutation({
    mutationFn: (locked: boolean) => client.call('setInstanceLock', { params, body: { locked } }),
    onSuccess: refreshInstances,
  });
  const promotion = useSetDefault(application);
  return (
    <>
      <PageHeader
        title={<bdi>{instance.name}</bdi>}
        description={<ResourceHeading id={instance.id} noun="instance" description={instance.description} />}
        quiet={
          <>
            <LinkButton
              kind="quiet"
              to="/apps/$application/runs"
              params={{ application }}
              search={{ instance: instance.id }}
            >
              Runs
            </LinkButton>
            {canWrite && data.default_instance !== instance.id && (
              <Button
                kind="quiet"
                onPress={() => promotion.sending.mutate(instance.id)}
                isPending={promotion.sending.isPending}
              >
                Set as default
              </Button>
            )}
          </>
        }
        actions={
          mayRun && (
            <LinkButton
              kind="primary"
              to="/apps/$application/new-run"
              params={{ application }}
              search={{ instance: instance.id }}
            >
              New run
            </LinkButton>
          )
        }
        menu={
          canWrite && (
            <>
              <Button onPress={() => lock.mutate(!instance.locked)} isPending={lock.isPending}>
                {instance.locked ? 'Unlock' : 'Lock'}
              </Button>
              {!instance.locked && <Button onPress={() => setDeleting(true)}>Delete</Button>}
            </>
          )
        }
      />
      {lock.isError && <Notice kind="error">{describeError(lock.error)}</Notice>}
      <SendError sending={promotion.sending} onLoad={promotion.load} />
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
