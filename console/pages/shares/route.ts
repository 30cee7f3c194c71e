import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { sharesQuery } from './queries.ts';

export const sharesRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/account/shares',
  validateSearch: ({ pagetoken }: Record<string, unknown>): { pagetoken?: string } =>
    typeof pagetoken === 'string' && pagetoken !== '' ? { pagetoken } : {},
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => queryClient.ensureQueryData(sharesQuery(deps)),
  component: lazyRouteComponent(() => import('./shares-page.tsx'), 'SharesPage'),
});
