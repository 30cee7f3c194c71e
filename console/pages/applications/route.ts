import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { applicationsQuery } from '../../client/applications.ts';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';

export const applicationsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/',
  loader: () => queryClient.ensureQueryData(applicationsQuery),
  component: lazyRouteComponent(() => import('./applications-page.tsx'), 'ApplicationsPage'),
});
