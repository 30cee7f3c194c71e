import type { Conversation } from '@switchyard/contract/account/webhook-schemas.ts';
import { useMutation } from '@tanstack/react-query';
import { client, describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { ContentView } from '../../ui/solution/content-view.tsx';
import { useRight } from '../../ui/use-right.ts';
import { refreshDeliveries } from './queries.ts';
import styles from './webhooks-page.module.css';

/** Request and response of one attempt. A role that may write sends the event again. */
export function DeliveryDetails({ delivery }: { delivery: Conversation }) {
  const canWrite = useRight('write');
  const params = { webhook_id: delivery.webhook_id, conversation_id: delivery.id };
  const replay = useMutation({
    mutationFn: () => client.call('replayWebhookConversation', { params }),
    onSuccess: refreshDeliveries,
  });
  return (
    <section aria-labelledby="delivery">
      <div className={styles.heading}>
        <h3 id="delivery">
          Attempt {delivery.attempt} of <code>{delivery.event_id}</code>
        </h3>
        {canWrite && (
          <Button onPress={() => replay.mutate()} isDisabled={replay.isPending}>
            Send again
          </Button>
        )}
      </div>
      {replay.isError && <Notice kind="error">{describeError(replay.error)}</Notice>}
      {replay.isSuccess && <Notice kind="success">The event is on its way again.</Notice>}
      {delivery.error !== '' && <Notice kind="error">{delivery.error}</Notice>}
      <h3>Response {delivery.http_status !== 0 && delivery.http_status}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by the keyboard */}
      <section className={styles.response} tabIndex={0} aria-label="Response">
        <pre>{delivery.response_body || 'no body'}</pre>
      </section>
      <h3>Request</h3>
      <ContentView
        key={delivery.id}
        source={{ value: delivery.request_body }}
        label="Request"
        fileName={delivery.event_id}
      />
    </section>
  );
}
