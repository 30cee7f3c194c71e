import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { runQuery, seriesQuery, tagsQuery } from './queries.ts';
import { parseRunSearch } from './search.ts';

export const runRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/runs/$run',
  validateSearch: parseRunSearch,
  // Imported with the page: the script of the first page has no parts of others. The run is read while it comes.
  loader: async ({ params, location }) => {
    const [{ loadRunPage }, run] = await Promise.all([
      import('./load-run-page.ts'),
      queryClient.ensureQueryData(runQuery(params)),
      queryClient.prefetchQuery(seriesQuery(params)),
      queryClient.prefetchQuery(tagsQuery(params)),
    ]);
    return loadRunPage(params, parseRunSearch(location.search), run);
  },
  component: lazyRouteComponent(() => import('./run-page.tsx'), 'RunPage'),
});
