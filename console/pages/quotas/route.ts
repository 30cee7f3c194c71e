import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { licensesQuery, quotasQuery } from './queries.ts';

export const quotasRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/account/quotas',
  loader: () =>
    Promise.all([queryClient.ensureQueryData(quotasQuery), queryClient.ensureQueryData(licensesQuery)]),
  component: lazyRouteComponent(() => import('./quotas-page.tsx'), 'QuotasPage'),
});
