import type { Subscription } from '@switchyard/contract/marketplace/subscriptions.ts';
import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { subscriptionsQuery } from '../../client/subscriptions.ts';
import { Button } from '../../ui/button.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { LoadMore } from '../../ui/resources/load-more.tsx';
import { TableHead } from '../../ui/resources/table-head.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
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
      <LoadMore list={list} />
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
    <TableRegion label="Table of subscriptions">
      <table className={table.table} aria-label="Subscriptions">
        <TableHead
          texts={['App', 'Publisher', 'Application', 'State', 'Since', ...(canWrite ? ['Actions'] : [])]}
        />
        <tbody>
          {subscriptions.map((one) => (
            <tr key={one.subscription_id}>
              <td>{one.app_title}</td>
              <td>{one.partner_name}</td>
              <td>
                <Link to="/apps/$application" params={{ application: one.application_id }}>
                  {one.application_id}
                </Link>
              </td>
              <td>{one.state}</td>
              <td>
                <RelativeTime at={one.subscription_date} />
              </td>
              {canWrite && (
                <td>
                  <Button
                    kind="quiet"
                    aria-label={`Unsubscribe ${one.application_id}`}
                    onPress={() => onEnd(one)}
                  >
                    Unsubscribe
                  </Button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}
