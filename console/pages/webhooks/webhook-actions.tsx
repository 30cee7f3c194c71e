import type { Webhook } from '@switchyard/contract/account/webhook-schemas.ts';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client, describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { OneTimeText } from '../../ui/forms/one-time-text.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { useRight } from '../../ui/use-right.ts';
import { refreshDeliveries } from './queries.ts';
import { DeleteWebhook, EditWebhook, RotateSecret } from './webhook-dialogs.tsx';

type OpenDialog = 'edit' | 'rotate' | 'delete' | { secret: string; advice: string };

/** The head of a webhook: what changes it, reveals its secret and sends a test event, as far as the role may. */
export function WebhookHeader({ webhook }: { webhook: Webhook }) {
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
      <PageHeader
        title={webhook.id}
        description={webhook.description && <bdi>{webhook.description}</bdi>}
        quiet={
          (canRead || canWrite) && (
            <>
              {canRead && (
                <Button kind="quiet" onPress={() => reveal.mutate()}>
                  Reveal secret
                </Button>
              )}
              {canWrite && (
                <Button kind="quiet" onPress={() => setDialog('edit')}>
                  Edit
                </Button>
              )}
            </>
          )
        }
        actions={
          canWrite && (
            <Button kind="primary" onPress={() => test.mutate()} isPending={test.isPending}>
              Send test event
            </Button>
          )
        }
        menu={
          canWrite && (
            <>
              <Button onPress={() => setDialog('rotate')}>Rotate secret</Button>
              <Button onPress={() => setDialog('delete')}>Delete</Button>
            </>
          )
        }
      />
      {error && <Notice kind="error">{describeError(error)}</Notice>}
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
