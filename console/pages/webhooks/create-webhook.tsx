import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { refreshWebhooks } from './queries.ts';
import { type WebhookDraft, WebhookFields } from './webhook-fields.tsx';

const EMPTY: WebhookDraft = { endpoint_url: '', event_types: ['run.status'], description: '' };

/** Creates a webhook and opens its page, which has its secret. */
export function CreateWebhook({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [id, setId] = useState('');
  const [draft, setDraft] = useState(EMPTY);
  const body = { ...draft, id: id.trim(), endpoint_url: draft.endpoint_url.trim() };
  return (
    <FormDialog
      title="New webhook"
      action="Create webhook"
      missing={
        (body.id === '' && 'Give an id') ||
        (body.endpoint_url === '' && 'Give an address') ||
        (body.event_types.length === 0 && 'Choose an event')
      }
      requests={[['createWebhook', { body }]]}
      onClose={onClose}
      onSubmit={async () => {
        await client.call('createWebhook', { body });
        await refreshWebhooks();
        await navigate({ to: '/webhooks/$webhook', params: { webhook: body.id } });
      }}
    >
      <TextField
        label="Id"
        help="Part of its address in the API; it never changes."
        value={id}
        onChange={setId}
        autoFocus
      />
      <WebhookFields draft={draft} onChange={setDraft} />
    </FormDialog>
  );
}
