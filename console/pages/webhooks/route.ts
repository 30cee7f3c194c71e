import { CONVERSATION_STATUSES, type ConversationStatus } from '@switchyard/contract/states.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { webhookQuery, webhooksQuery } from './queries.ts';

interface WebhookSearch {
  /** Only deliveries with this status. */
  status?: ConversationStatus;
  /** The delivery whose request and response are shown. */
  delivery?: string;
}

export const webhooksRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/webhooks',
  loader: () => queryClient.ensureInfiniteQueryData(webhooksQuery),
  component: lazyRouteComponent(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
});

export const webhookRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/webhooks/$webhook',
  validateSearch: (search): WebhookSearch => {
    const status = CONVERSATION_STATUSES.find((one) => one === search.status);
    return {
      ...(status && { status }),
      ...(typeof search.delivery === 'string' && { delivery: search.delivery }),
    };
  },
  loader: ({ params: { webhook } }) => queryClient.ensureQueryData(webhookQuery(webhook)),
  component: lazyRouteComponent(() => import('./webhook-page.tsx'), 'WebhookPage'),
});
