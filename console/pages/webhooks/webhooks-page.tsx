import type { Webhook } from '@switchyard/contract/account/webhook-schemas.ts';
import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { useRight } from '../../ui/use-right.ts';
import { CreateWebhook } from './create-webhook.tsx';
import { webhooksQuery } from './queries.ts';

const CREATE_COMMAND = formatCurl('createWebhook', {
  body: {
    id: 'dispatch-desk',
    event_types: ['run.status'],
    endpoint_url: 'https://dispatch.example.com/hooks/switchyard',
    description: '',
  },
});

/** The webhooks of the account. */
export function WebhooksPage() {
  const list = useSuspenseInfiniteQuery(webhooksQuery);
  const webhooks = list.data.pages.flatMap(({ items }) => items);
  const canWrite = useRight('write');
  const [isCreating, setCreating] = useState(false);
  usePageTitle('Webhooks');
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="Addresses that get a signed HTTP request for each event."
        actions={
          canWrite && (
            <Button kind="primary" onPress={() => setCreating(true)}>
              New webhook
            </Button>
          )
        }
      />
      {webhooks.length === 0 ? (
        <EmptyState title="No webhook yet" command={CREATE_COMMAND}>
          <p>A webhook tells your program of a change at once, so that it need not ask again and again.</p>
        </EmptyState>
      ) : (
        <WebhookTable webhooks={webhooks} />
      )}
      <MoreRows list={list} count={webhooks.length} noun="webhook" />
      {isCreating && <CreateWebhook onClose={() => setCreating(false)} />}
    </>
  );
}

function WebhookTable({ webhooks }: { webhooks: readonly Webhook[] }) {
  return (
    <DataTable
      label="Webhooks"
      rows={webhooks}
      columns={[
        {
          title: 'Webhook',
          cell: ({ id, disabled_at }) => (
            <>
              <Link to="/webhooks/$webhook" params={{ webhook: id }}>
                {id}
              </Link>
              {disabled_at !== undefined && <span className="bad"> disabled</span>}
            </>
          ),
        },
        {
          title: 'Address',
          onPhone: 'plain',
          hover: ({ endpoint_url }) => endpoint_url,
          cell: ({ endpoint_url }) => <bdi>{endpoint_url}</bdi>,
        },
        { title: 'Events', onPhone: 'plain', cell: ({ event_types }) => event_types.join(', ') },
        {
          title: 'Created',
          kind: 'number',
          onPhone: 'hidden',
          cell: ({ created_at }) => <RelativeTime at={created_at} />,
        },
      ]}
    />
  );
}
