import type { Conversation } from '@switchyard/contract/account/webhook-schemas.ts';
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { CONVERSATION_STATUSES } from '@switchyard/contract/states.ts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { describeError } from '../../client/client.ts';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { Notice } from '../../ui/notice.tsx';
import { RelativeTime, useNow } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { DeliveryDetails } from './delivery-details.tsx';
import { deliveriesQuery } from './queries.ts';
import styles from './webhooks-page.module.css';

const route = getRouteApi('/signed-in/webhooks/$webhook');
const REFRESH_MS = 30_000;

/** The attempts to deliver events, newest first, and the request and response of the chosen one. */
export function Deliveries({ webhook }: { webhook: string }) {
  const { status, delivery } = route.useSearch();
  const list = useInfiniteQuery(deliveriesQuery(webhook, status));
  const deliveries = list.data?.pages.flatMap(({ items }) => items) ?? [];
  const chosen = deliveries.find(({ id }) => id === delivery);
  return (
    <section aria-labelledby="deliveries">
      <div className={styles.heading}>
        <h2 id="deliveries">Deliveries</h2>
        <StatusFilter />
      </div>
      {list.isError && <Notice kind="error">{describeError(list.error)}</Notice>}
      {list.isSuccess && deliveries.length === 0 && (
        <p className="soft">
          {status === undefined
            ? 'No delivery yet. Send a test event to try the receiver.'
            : 'No delivery has this status.'}
        </p>
      )}
      {deliveries.length > 0 && <DeliveryTable deliveries={deliveries} chosen={delivery} />}
      <MoreRows list={list} count={deliveries.length} noun="delivery" plural="deliveries" />
      {chosen && <DeliveryDetails delivery={chosen} />}
    </section>
  );
}

function StatusFilter() {
  const { status } = route.useSearch();
  const navigate = route.useNavigate();
  const choose = (value: string) => {
    const next = CONVERSATION_STATUSES.find((one) => one === value);
    void navigate({ search: next ? { status: next } : {}, replace: true, resetScroll: false });
  };
  return (
    <label>
      Status{' '}
      <select value={status ?? ''} onChange={(event) => choose(event.target.value)}>
        <option value="">all</option>
        {CONVERSATION_STATUSES.map((one) => (
          <option key={one} value={one}>
            {one.replace('_', ' ')}
          </option>
        ))}
      </select>
    </label>
  );
}

function DeliveryTable({
  deliveries,
  chosen,
}: {
  deliveries: readonly Conversation[];
  chosen: string | undefined;
}) {
  return (
    <DataTable
      label="Deliveries"
      rows={deliveries}
      isCurrent={({ id }) => id === chosen}
      columns={[
        {
          title: 'Event',
          cell: ({ id, request_body }) => (
            <Link
              from="/webhooks/$webhook"
              to="."
              search={(search) => ({ ...search, delivery: id })}
              resetScroll={false}
            >
              {request_body.event_type}
            </Link>
          ),
        },
        { title: 'Status', onPhone: 'plain', cell: ({ status }) => <StatusBadge status={status} /> },
        { title: 'Attempt', kind: 'number', onPhone: 'hidden', cell: ({ attempt }) => attempt },
        { title: 'Response', kind: 'number', cell: ({ http_status: status }) => status || 'none' },
        {
          title: 'Response time',
          kind: 'number',
          onPhone: 'hidden',
          cell: (one) => formatDuration(one.response_duration),
        },
        {
          title: 'Sent',
          kind: 'number',
          onPhone: 'end',
          cell: ({ created_at }) => <RelativeTime at={created_at} />,
        },
        {
          title: 'Next attempt',
          kind: 'number',
          onPhone: 'hidden',
          cell: (one) => <NextAttempt at={one.next_attempt_at} />,
        },
      ]}
    />
  );
}

/** The time of the next attempt. One that has passed is an own row. */
function NextAttempt({ at }: { at: string | undefined }) {
  const now = useNow(REFRESH_MS);
  return at === undefined || Date.parse(at) < now ? '–' : <RelativeTime at={at} />;
}
