import type { Webhook } from '@switchyard/contract/account/webhook-schemas.ts';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client, describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { OneTimeText } from '../../ui/forms/one-time-text.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useRight } from '../../ui/use-right.ts';
import { refreshDeliveries } from './queries.ts';
import { DeleteWebhook, EditWebhook, RotateSecret } from './webhook-dialogs.tsx';

type OpenDialog = 'edit' | 'rotate' | 'delete' | { secret: string; advice: string };

/** Buttons that change a webhook, reveal its secret and send a test event, as far as the role may. */
export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const [dialog, setDialog] = useState<OpenDialog>();
  const close = () => setDialog(undefined);
  const canWrite = useRight('write');
  const canRead = useRight('read-secrets');
  const params = { webhook_id: webhook.id };
  const reveal = useMutation({
    mutationFn: async () => (await client.call('getWebhookSecret', { params })).body.secret,
    onSuccess: (secret) =>
      setDialog({ secret, advice: 'The receiver verifies signatures with this secret.' }),
  });
  const [event_type] = webhook.event_types;
  const test = useMutation({
    mutationFn: async () => event_type && client.call('triggerEvent', { body: { event_type } }),
    onSuccess: refreshDeliveries,
  });
  const error = reveal.error ?? test.error;
  return (
    <>
      {error && <Notice kind="error">{describeError(error)}</Notice>}
      {canRead && (
        <Button kind="quiet" onPress={() => reveal.mutate()}>
          Reveal secret
        </Button>
      )}
      {canWrite && (
        <>
          <Button kind="quiet" onPress={() => setDialog('edit')}>
            Edit
          </Button>
          <MoreMenu>
            <Button onPress={() => setDialog('rotate')}>Rotate secret</Button>
            <Button onPress={() => setDialog('delete')}>Delete</Button>
          </MoreMenu>
          <Button kind="primary" onPress={() => test.mutate()} isPending={test.isPending}>
            Send test event
          </Button>
        </>
      )}
      {dialog === 'edit' && <EditWebhook webhook={webhook} onClose={close} />}
      {dialog === 'delete' && <DeleteWebhook webhook={webhook} onClose={close} />}
      {dialog === 'rotate' && (
        <RotateSecret
          webhook={webhook}
          onClose={close}
          onRotate={(secret) => setDialog({ secret, advice: 'Store the new secret with the receiver.' })}
        />
      )}
      {typeof dialog === 'object' && (
        <OneTimeText
          title={`Secret of ${webhook.id}`}
          label="secret"
          text={dialog.secret}
          advice={dialog.advice}
          onClose={close}
        />
      )}
    </>
  );
}
