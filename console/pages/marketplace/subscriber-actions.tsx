import type { MarketplaceApp } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { subscriptionQuery } from '../../client/subscriptions.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { useRight } from '../../ui/use-right.ts';
import { Subscribe, Unsubscribe } from './subscription-dialogs.tsx';

/** Subscribes to the app, or opens its application and ends the subscription. */
export function SubscriberActions({ app }: { app: MarketplaceApp }) {
  const { data: subscription } = useQuery(subscriptionQuery(app.subscription_id));
  const canWrite = useRight('write');
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  if (subscription === undefined) return null;
  if (subscription === null)
    return (
      canWrite &&
      app.state === 'released' && (
        <>
          <Button kind="primary" onPress={() => setOpen(true)}>
            Subscribe
          </Button>
          {isOpen && <Subscribe app={app} onClose={close} />}
        </>
      )
    );
  return (
    <>
      <LinkButton
        kind="primary"
        to="/apps/$application"
        params={{ application: subscription.application_id }}
      >
        Open application
      </LinkButton>
      {canWrite && <Button onPress={() => setOpen(true)}>Unsubscribe</Button>}
      {isOpen && <Unsubscribe subscription={subscription} onClose={close} />}
    </>
  );
}
