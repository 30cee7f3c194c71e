import type { Webhook } from '@switchyard/contract/account/webhook-schemas.ts';
import { useInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { AnswerSentence } from '../../ui/answer.tsx';
import { FactList } from '../../ui/facts.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Deliveries } from './deliveries.tsx';
import { deliveriesQuery, webhookQuery } from './queries.ts';
import { WebhookHeader } from './webhook-actions.tsx';
import styles from './webhooks-page.module.css';

const route = getRouteApi('/signed-in/webhooks/$webhook');

/** One webhook: whether its receiver gets the events, and each delivery. */
export function WebhookPage() {
  const { webhook: id } = route.useParams();
  const { data: webhook } = useSuspenseQuery(webhookQuery(id));
  usePageTitle(id, 'Webhooks');
  return (
    <>
      <WebhookHeader webhook={webhook} />
      <WebhookAnswer webhook={webhook} />
      <div className={styles.sections}>
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

/** Whether the events arrive, and since when they do not. */
function WebhookAnswer({ webhook: { id, disabled_at } }: { webhook: Webhook }) {
  const latest = useInfiniteQuery(deliveriesQuery(id, undefined)).data?.pages[0]?.items[0];
  const arrived = useInfiniteQuery(deliveriesQuery(id, 'succeeded')).data?.pages[0];
  const last = arrived?.items[0];
  if (disabled_at === undefined && !(latest && arrived))
    return <AnswerSentence icon="waiting" title="Nothing is delivered yet." />;
  const tone = disabled_at === undefined && latest?.status === 'succeeded' ? 'good' : 'bad';
  return (
    <AnswerSentence
      icon={tone}
      tone={tone}
      title={
        <>
          {disabled_at !== undefined && (
            <>
              Disabled <RelativeTime at={disabled_at} />.{' '}
            </>
          )}
          {disabled_at === undefined && (tone === 'good' ? 'Delivering. ' : 'Failing. ')}
          {last ? (
            <>
              The last event arrived <RelativeTime at={last.created_at} />.
            </>
          ) : (
            'No event has arrived yet.'
          )}
        </>
      }
    >
      {disabled_at === undefined
        ? tone === 'bad' && <bdi>{latest?.error}</bdi>
        : 'No event is sent until you edit and save it: the receiver responded 410 Gone, or the member or key that set the webhook up was removed.'}
    </AnswerSentence>
  );
}
