import type { Subscription } from '@switchyard/contract/marketplace/subscriptions.ts';
import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { subscriptionsQuery } from '../../client/subscriptions.ts';
import { ApplicationLink } from '../../ui/application-link.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { useRight } from '../../ui/use-right.ts';
import styles from './marketplace-page.module.css';
import { Unsubscribe } from './subscription-dialogs.tsx';

/** The subscriptions of the account, with the application that runs each. */
export function SubscriptionsSection() {
  const list = useSuspenseInfiniteQuery(subscriptionsQuery);
  const subscriptions = list.data.pages.flatMap(({ items }) => items);
  const [ended, setEnded] = useState<Subscription>();
  return (
    <section aria-labelledby="subscriptions">
      <h2 id="subscriptions">Subscriptions of this account</h2>
      {subscriptions.length === 0 ? (
        <p className={styles.soft}>No subscription yet. Open an app above and press Subscribe.</p>
      ) : (
        <SubscriptionTable subscriptions={subscriptions} onEnd={setEnded} />
      )}
      <MoreRows list={list} count={subscriptions.length} noun="subscription" />
      {ended && <Unsubscribe subscription={ended} onClose={() => setEnded(undefined)} />}
    </section>
  );
}

interface SubscriptionTableProps {
  subscriptions: readonly Subscription[];
  onEnd: (subscription: Subscription) => void;
}

function SubscriptionTable({ subscriptions, onEnd }: SubscriptionTableProps) {
  const canWrite = useRight('write');
  return (
    <DataTable<Subscription>
      label="Subscriptions"
      rows={subscriptions}
      keyOf={({ subscription_id }) => subscription_id}
      columns={[
        { title: 'App', hover: ({ app_title }) => app_title, cell: (one) => <bdi>{one.app_title}</bdi> },
        { title: 'Publisher', cell: ({ partner_name }) => <bdi>{partner_name}</bdi> },
        {
          title: 'Application',
          onPhone: 'hidden',
          cell: ({ application_id, application_name }) => (
            <ApplicationLink id={application_id} name={application_name} />
          ),
        },
        { title: 'State', onPhone: 'plain', cell: ({ state }) => state },
        {
          title: 'Since',
          kind: 'number',
          onPhone: 'hidden',
          cell: (one) => <RelativeTime at={one.subscription_date} />,
        },
        canWrite && {
          title: 'Actions',
          kind: 'actions',
          cell: (one) => (
            <MoreMenu label={`Actions of ${one.application_id}`}>
              <Button aria-label={`Unsubscribe ${one.application_id}`} onPress={() => onEnd(one)}>
                Unsubscribe
              </Button>
            </MoreMenu>
          ),
        },
      ]}
    />
  );
}
