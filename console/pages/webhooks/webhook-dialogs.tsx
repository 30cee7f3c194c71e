import type { Webhook } from '@switchyard/contract/account/webhook-schemas.ts';
import { SECRET_OVERLAP_HOURS_DEFAULT } from '@switchyard/contract/limits.ts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { useEdit } from '../../ui/forms/conflicts/use-edit.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { refreshWebhooks } from './queries.ts';
import { type WebhookDraft, WebhookFields } from './webhook-fields.tsx';

interface DialogProps {
  webhook: Webhook;
  onClose: () => void;
}

/** Changes address, events and description. Every change enables a disabled webhook. */
export function EditWebhook({ webhook, onClose }: DialogProps) {
  const params = { webhook_id: webhook.id };
  const { draft, change, seen, load } = useEdit<Webhook, WebhookDraft>({
    resource: webhook,
    fetch: async () => (await client.call('getWebhook', { params })).body,
    createDraft: ({ endpoint_url, event_types, description }) => ({ endpoint_url, event_types, description }),
    labels: { endpoint_url: 'Address', event_types: 'Events', description: 'Description' },
  });
  const { endpoint_url, event_types, description } = draft;
  const body = { endpoint_url: endpoint_url.trim(), event_types, description };
  return (
    <FormDialog
      title={`Edit ${webhook.id}`}
      action="Save"
      missing={
        (body.endpoint_url === '' && 'Give an address') || (event_types.length === 0 && 'Choose an event')
      }
      requests={[['updateWebhook', { params, body }]]}
      onClose={onClose}
      onLoad={load}
      onSubmit={async () => {
        await client.call('updateWebhook', {
          params,
          body: { ...body, expected_updated_at: seen.updated_at },
        });
        await refreshWebhooks();
        onClose();
      }}
    >
      <WebhookFields draft={draft} onChange={change} />
    </FormDialog>
  );
}

/** Generates a new secret. The old one signs too for the chosen time. */
export function RotateSecret({
  webhook,
  onClose,
  onRotate,
}: DialogProps & { onRotate: (secret: string) => void }) {
  const [hours, setHours] = useState(String(SECRET_OVERLAP_HOURS_DEFAULT));
  const params = { webhook_id: webhook.id };
  const body = { overlap_hours: Number(hours) };
  return (
    <FormDialog
      title="Rotate secret"
      action="Rotate secret"
      missing={hours.trim() === '' && 'Give a number of hours'}
      requests={[['rotateWebhookSecret', { params, body }]]}
      onClose={onClose}
      onSubmit={async () => {
        const { secret } = (await client.call('rotateWebhookSecret', { params, body })).body;
        await refreshWebhooks();
        onRotate(secret);
      }}
    >
      <TextField
        label="Overlap in hours"
        help="The old secret signs every request too for this long. With 0 it ends at once."
        value={hours}
        onChange={setHours}
        autoFocus
      />
    </FormDialog>
  );
}

/** Asks before a webhook is deleted. */
export function DeleteWebhook({ webhook: { id }, onClose }: DialogProps) {
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      title={`Delete ${id}?`}
      word={id}
      action="Delete webhook"
      onClose={onClose}
      onConfirm={async () => {
        await client.call('deleteWebhook', { params: { webhook_id: id } });
        await navigate({ to: '/webhooks' });
        await refreshWebhooks();
      }}
    >
      <p>Its secret and its deliveries are deleted, and events that wait for it are dropped.</p>
    </ConfirmDialog>
  );
}
