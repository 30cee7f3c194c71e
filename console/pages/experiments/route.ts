import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { experimentsQuery } from './queries.ts';
import { parseSearch } from './search.ts';

export const experimentsRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/experiments',
  validateSearch: parseSearch,
  loaderDeps: ({ search }) => ({ type: search.type, status: search.status }),
  loader: ({ params: { application }, deps }) =>
    queryClient.ensureInfiniteQueryData(experimentsQuery(application, deps)),
  component: lazyRouteComponent(() => import('./experiments-page.tsx'), 'ExperimentsPage'),
});
