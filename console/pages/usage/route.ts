import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { usageQuery } from './queries.ts';
import { completeSearch, parseUsageSearch } from './search.ts';

export const usageRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/account/usage',
  validateSearch: parseUsageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => {
    const { days, by } = completeSearch(deps);
    return Promise.all(
      [usageQuery(days, 'day'), usageQuery(days, by)].map((query) => queryClient.ensureQueryData(query)),
    );
  },
  component: lazyRouteComponent(() => import('./usage-page.tsx'), 'UsagePage'),
});
