import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { queueQuery } from './queries.ts';

export const queueRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/queue',
  loader: () => queryClient.ensureQueryData(queueQuery),
  component: lazyRouteComponent(() => import('./queue-page.tsx'), 'QueuePage'),
});
