import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { listRunIds, parseSearch } from './search.ts';

export const compareRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: 'compare',
  validateSearch: parseSearch,
  loaderDeps: ({ search }) => ({ runs: search.runs }),
  // A run that does not exist is an error of the page, which shows it with the name of the run.
  // Imported with the page: the script of the first page has no parts of others.
  loader: async ({ params, deps }) => {
    const { runQuery } = await import('./queries.ts');
    await Promise.allSettled(
      listRunIds(deps.runs).map((id) => queryClient.ensureQueryData(runQuery(params.application, id))),
    );
  },
  component: lazyRouteComponent(() => import('./compare-page.tsx'), 'ComparePage'),
});
