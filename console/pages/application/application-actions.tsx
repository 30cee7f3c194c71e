import type { Application } from '@switchyard/contract/applications/applications.ts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { applicationQuery, applicationsQuery } from '../../client/applications.ts';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { RenameDialog } from '../../ui/resources/rename-dialog.tsx';
import { useRight } from '../../ui/use-right.ts';
import { type JudgedApplication, ObjectiveDialog } from './objective-dialog.tsx';

type NamedApplication = Pick<Application, 'name' | 'description'> & JudgedApplication;

interface DialogProps {
  application: NamedApplication;
  onClose: () => void;
}

/** Buttons that rename and delete the application and choose its objective, for a role that may. */
export function ApplicationActions({ application }: { application: NamedApplication }) {
  const [dialog, setDialog] = useState<'objective' | 'rename' | 'delete'>();
  const close = () => setDialog(undefined);
  if (!useRight('write')) return null;
  return (
    <>
      <MoreMenu>
        <Button onPress={() => setDialog('objective')}>Objective</Button>
        <Button onPress={() => setDialog('rename')}>Rename</Button>
        <Button onPress={() => setDialog('delete')}>Delete</Button>
      </MoreMenu>
      {dialog === 'objective' && <ObjectiveDialog application={application} onClose={close} />}
      {dialog === 'rename' && <RenameApplication application={application} onClose={close} />}
      {dialog === 'delete' && <DeleteApplication application={application} onClose={close} />}
    </>
  );
}

function RenameApplication({ application, onClose }: DialogProps) {
  const params = { application_id: application.id };
  return (
    <RenameDialog
      noun="application"
      current={application}
      fetchCurrent={async () => (await client.call('getApplication', { params })).body}
      buildRequest={(body) => ['updateApplication', { params, body }]}
      onRename={async (changed, condition) => {
        const body = { ...changed, ...condition };
        const response = await client.call('updateApplication', { params, body });
        queryClient.setQueryData(applicationQuery(application.id).queryKey, response.body);
        await queryClient.invalidateQueries(applicationsQuery);
        onClose();
      }}
      onClose={onClose}
    >
      <p>Its id never changes, so callers need no change.</p>
    </RenameDialog>
  );
}

function DeleteApplication({ application: { id }, onClose }: DialogProps) {
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      title={`Delete ${id}?`}
      word={id}
      action="Delete application"
      onClose={onClose}
      onConfirm={async () => {
        await client.call('deleteApplication', { params: { application_id: id } });
        await navigate({ to: '/' });
        await queryClient.invalidateQueries(applicationsQuery);
      }}
    >
      <p>
        Its runs, versions, instances, inputs, experiments and secrets are deleted too, and running runs are
        stopped. This cannot be undone.
      </p>
    </ConfirmDialog>
  );
}
