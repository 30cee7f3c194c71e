import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { keysQuery } from './queries.ts';

export const keysRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/account/keys',
  loader: () => queryClient.ensureQueryData(keysQuery),
  component: lazyRouteComponent(() => import('./keys-page.tsx'), 'KeysPage'),
});
