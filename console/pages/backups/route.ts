import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { backupsQuery } from './queries.ts';

export const backupsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/account/backups',
  loader: () => queryClient.ensureQueryData(backupsQuery),
  component: lazyRouteComponent(() => import('./backups-page.tsx'), 'BackupsPage'),
});
