import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { sessionsQuery } from './queries.ts';

export const sessionsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/account/sessions',
  loader: () => queryClient.ensureQueryData(sessionsQuery),
  component: lazyRouteComponent(() => import('./sessions-page.tsx'), 'SessionsPage'),
});
