import type { Webhook } from '@switchyard/contract/account/webhook-schemas.ts';
import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { LoadMore } from '../../ui/resources/load-more.tsx';
import { TableHead } from '../../ui/resources/table-head.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { useRight } from '../../ui/use-right.ts';
import { CreateWebhook } from './create-webhook.tsx';
import { webhooksQuery } from './queries.ts';
import styles from './webhooks-page.module.css';

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
      <LoadMore list={list} />
      {isCreating && <CreateWebhook onClose={() => setCreating(false)} />}
    </>
  );
}

function WebhookTable({ webhooks }: { webhooks: readonly Webhook[] }) {
  return (
    <TableRegion label="Table of webhooks">
      <table className={table.table} aria-label="Webhooks">
        <TableHead texts={['Webhook', 'Address', 'Events', 'Created']} />
        <tbody>
          {webhooks.map(({ id, endpoint_url, event_types, disabled_at, created_at }) => (
            <tr key={id}>
              <td>
                <Link to="/webhooks/$webhook" params={{ webhook: id }} className="row-name">
                  {id}
                </Link>
                {disabled_at !== undefined && <span className={styles.disabled}>disabled</span>}
              </td>
              <td className={styles.url}>{endpoint_url}</td>
              <td>{event_types.join(', ')}</td>
              <td>
                <RelativeTime at={created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}
