import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { storageQuery } from './queries.ts';

export const retentionRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/account/retention',
  loader: () => queryClient.ensureQueryData(storageQuery),
  component: lazyRouteComponent(() => import('./retention-page.tsx'), 'RetentionPage'),
});
