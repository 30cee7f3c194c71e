import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { findRange, usageQuery } from './queries.ts';
import { completeSearch, parseUsageSearch } from './search.ts';

export const usageRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/account/usage',
  validateSearch: parseUsageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => {
    const { days, by } = completeSearch(deps);
    const range = findRange(days);
    return Promise.all(
      [usageQuery(range, 'day'), usageQuery(range, by), usageQuery(range.before, 'day')].map((query) =>
        queryClient.ensureQueryData(query),
      ),
    );
  },
  component: lazyRouteComponent(() => import('./usage-page.tsx'), 'UsagePage'),
});
