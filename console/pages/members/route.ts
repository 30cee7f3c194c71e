import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { membersQuery } from './queries.ts';

export const membersRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/account/members',
  loader: () => queryClient.ensureQueryData(membersQuery),
  component: lazyRouteComponent(() => import('./members-page.tsx'), 'MembersPage'),
});
