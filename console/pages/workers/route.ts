import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { workersQuery } from './queries.ts';

export const workersRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/workers',
  loader: () => queryClient.ensureQueryData(workersQuery),
  component: lazyRouteComponent(() => import('./workers-page.tsx'), 'WorkersPage'),
});
