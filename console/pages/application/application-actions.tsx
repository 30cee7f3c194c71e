import type { Application } from '@switchyard/contract/applications/applications.ts';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { applicationQuery, applicationsQuery } from '../../client/applications.ts';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { RenameDialog } from '../../ui/resources/rename-dialog.tsx';
import { isSubscription } from '../../ui/subscriptions/subscription-notice.tsx';
import { useRight } from '../../ui/use-right.ts';
import { ObjectiveDialog } from './objective-dialog.tsx';

const PushDialog = lazy(async () => ({
  default: (await import('./push/push-dialog.tsx')).PushDialog,
}));

/** The dialogs of the menu, of which one is open. */
export type OpenDialog = 'push' | 'objective' | 'trust' | 'rename' | 'delete';

interface MenuProps {
  application: Application;
  onOpen: (dialog: OpenDialog) => void;
}

/** The further actions of the application, for a role that may. */
export function ApplicationMenu({ application, onOpen }: MenuProps) {
  const canWrite = useRight('write');
  const mayTrust = useRight('account') && !isSubscription(application);
  const { html_assets_trusted: isTrusted } = application;
  if (!canWrite) return null;
  return (
    <>
      {!isSubscription(application) && <Button onPress={() => onOpen('push')}>Push app</Button>}
      <Button onPress={() => onOpen('objective')}>Objective</Button>
      {mayTrust && (
        <Button onPress={() => onOpen('trust')}>
          {isTrusted ? 'Stop trusting HTML assets' : 'Trust HTML assets'}
        </Button>
      )}
      <Button onPress={() => onOpen('rename')}>Rename</Button>
      <Button onPress={() => onOpen('delete')}>Delete</Button>
    </>
  );
}

interface DialogProps {
  application: Application;
  onClose: () => void;
}

/** The open dialog of the application; nothing without one. */
export function ApplicationDialog({ open, ...props }: DialogProps & { open: OpenDialog | undefined }) {
  if (open === 'push')
    return (
      <Suspense fallback={null}>
        <PushDialog application={props.application.id} onClose={props.onClose} />
      </Suspense>
    );
  if (open === 'objective') return <ObjectiveDialog {...props} />;
  if (open === 'trust') return <TrustHtmlAssets {...props} />;
  if (open === 'rename') return <RenameApplication {...props} />;
  if (open === 'delete') return <DeleteApplication {...props} />;
  return null;
}

/** Lets the HTML assets of the application run without a click, or ends that. */
function TrustHtmlAssets({ application: { id, html_assets_trusted: isTrusted }, onClose }: DialogProps) {
  const confirm = async () => {
    await client.call(isTrusted ? 'distrustHtmlAssets' : 'trustHtmlAssets', {
      params: { application_id: id },
    });
    await queryClient.invalidateQueries(applicationQuery(id));
    onClose();
  };
  const dialog = { onClose, onConfirm: confirm };
  if (isTrusted)
    return (
      <ConfirmDialog
        title={`Stop trusting the HTML assets of ${id}?`}
        action="Stop trusting HTML assets"
        isHarmless
        {...dialog}
      >
        <p>They run after a click again.</p>
      </ConfirmDialog>
    );
  return (
    <ConfirmDialog title={`Trust the HTML assets of ${id}?`} action="Trust HTML assets" {...dialog}>
      <p>
        They will run without a click for every member, and can send what they show to their author. Trust
        them only if you know who writes this app. Share links still ask.
      </p>
    </ConfirmDialog>
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
