import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { queueQuery, queueWorkersQuery } from './queries.ts';

export const queueRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/queue',
  loader: () =>
    Promise.all([queryClient.ensureQueryData(queueQuery), queryClient.ensureQueryData(queueWorkersQuery)]),
  component: lazyRouteComponent(() => import('./queue-page.tsx'), 'QueuePage'),
});
