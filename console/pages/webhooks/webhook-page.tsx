import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { FactList } from '../../ui/facts.tsx';
import { Notice } from '../../ui/notice.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Deliveries } from './deliveries.tsx';
import { webhookQuery } from './queries.ts';
import { WebhookHeader } from './webhook-actions.tsx';
import styles from './webhooks-page.module.css';

const route = getRouteApi('/signed-in/webhooks/$webhook');

/** One webhook with its deliveries. */
export function WebhookPage() {
  const { webhook: id } = route.useParams();
  const { data: webhook } = useSuspenseQuery(webhookQuery(id));
  usePageTitle(id, 'Webhooks');
  return (
    <>
      <WebhookHeader webhook={webhook} />
      <div className={styles.sections}>
        {webhook.disabled_at !== undefined && (
          <Notice kind="warning">
            Disabled <RelativeTime at={webhook.disabled_at} />: the receiver responded 410 Gone, or the member
            or key that set the webhook up was removed. No event is sent until you edit and save it.
          </Notice>
        )}
        <FactList
          facts={[
            ['Address', webhook.endpoint_url],
            ['Events', webhook.event_types.join(', ')],
            ['Created', <RelativeTime key="created" at={webhook.created_at} />],
          ]}
        />
        <Deliveries webhook={id} />
      </div>
    </>
  );
}
