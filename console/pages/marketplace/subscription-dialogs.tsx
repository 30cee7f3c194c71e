import type { MarketplaceApp } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import type { Subscription } from '@switchyard/contract/marketplace/subscriptions.ts';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../../client/client.ts';
import { refreshSubscriptions } from '../../client/subscriptions.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';

/** Subscribes to an app, and opens the application that runs it. */
export function Subscribe({ app, onClose }: { app: MarketplaceApp; onClose: () => void }) {
  const navigate = useNavigate();
  const body = { subscription_id: app.subscription_id };
  return (
    <FormDialog
      title={`Subscribe to ${app.id}`}
      action="Subscribe"
      requests={[['createSubscription', { body }]]}
      onClose={onClose}
      onSubmit={async () => {
        const { body: created } = await client.call('createSubscription', { body });
        await refreshSubscriptions();
        await navigate({ to: '/apps/$application', params: { application: created.application_id } });
      }}
    >
      <p>
        Your account gets an application with the published versions. Its runs, inputs and instances belong to
        your account, and the publisher sees none of them.
      </p>
      <p>The audit log of the publisher has the name of your account.</p>
    </FormDialog>
  );
}

/** Ends a subscription after the id of its application was typed. */
export function Unsubscribe({
  subscription: { subscription_id, application_id },
  onClose,
}: {
  subscription: Subscription;
  onClose: () => void;
}) {
  return (
    <ConfirmDialog
      title={`Unsubscribe ${application_id}?`}
      word={application_id}
      action="End subscription"
      onClose={onClose}
      onConfirm={async () => {
        await client.call('deleteSubscription', { params: { subscription_id } });
        onClose();
        await refreshSubscriptions();
      }}
    >
      <p>
        The application accepts no new runs. Accepted runs finish, and all runs stay readable. Subscribe again
        to create runs, or delete the application to remove them.
      </p>
    </ConfirmDialog>
  );
}
