import type { WebhookWithDeliveries } from '@switchyard/contract/account/webhook-schemas.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { AnswerSentence } from '../../ui/answer.tsx';
import { FactList } from '../../ui/facts.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Deliveries } from './deliveries.tsx';
import { webhookQuery } from './queries.ts';
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

/** Whether the events arrive; since when they do not, and why. */
function WebhookAnswer({ webhook }: { webhook: WebhookWithDeliveries }) {
  const { disabled_at, last_success_at: success, failing_since: failure, last_error } = webhook;
  if (disabled_at === undefined && success === undefined && failure === undefined)
    return <AnswerSentence icon="waiting" title="Nothing is delivered yet." />;
  const tone = disabled_at === undefined && failure === undefined ? 'good' : 'bad';
  const arrived =
    success === undefined ? (
      'No event has arrived yet.'
    ) : (
      <>
        The last event arrived <RelativeTime at={success} />.
      </>
    );
  if (tone === 'good') return <AnswerSentence icon={tone} tone={tone} title={<>Delivering. {arrived}</>} />;
  return (
    <AnswerSentence
      icon={tone}
      tone={tone}
      title={
        disabled_at === undefined ? (
          <>
            Failing: the first attempt failed <RelativeTime at={failure ?? ''} />, and none has succeeded
            since.
          </>
        ) : (
          <>
            Disabled <RelativeTime at={disabled_at} />. {arrived}
          </>
        )
      }
    >
      {disabled_at === undefined ? (
        <>
          {arrived} The last attempt: <bdi>{last_error}</bdi>
        </>
      ) : (
        'No event is sent until you edit and save it: the receiver responded 410 Gone, or the member or key that set the webhook up was removed.'
      )}
    </AnswerSentence>
  );
}
