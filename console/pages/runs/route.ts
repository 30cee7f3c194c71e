import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { runsQuery } from './queries.ts';
import { parseRunsSearch, readFilters } from './runs-search.ts';

export const runsRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/runs',
  validateSearch: parseRunsSearch,
  loaderDeps: ({ search }) => readFilters(search),
  loader: ({ params: { application }, deps }) =>
    queryClient.ensureInfiniteQueryData(runsQuery(application, deps)),
  component: lazyRouteComponent(() => import('./runs-page.tsx'), 'RunsPage'),
});
