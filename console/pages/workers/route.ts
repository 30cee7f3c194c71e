import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { provisionerQuery, workersQuery } from './queries.ts';

export const workersRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/workers',
  loader: () =>
    Promise.all([queryClient.ensureQueryData(workersQuery), queryClient.ensureQueryData(provisionerQuery)]),
  component: lazyRouteComponent(() => import('./workers-page.tsx'), 'WorkersPage'),
});
