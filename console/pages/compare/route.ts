import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { runQuery } from './queries.ts';
import { listRunIds, parseSearch } from './search.ts';

export const compareRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: 'compare',
  validateSearch: parseSearch,
  loaderDeps: ({ search }) => ({ runs: search.runs }),
  // A run that does not exist is an error of the page, which shows it with the name of the run.
  loader: ({ params, deps }) =>
    Promise.allSettled(
      listRunIds(deps.runs).map((id) => queryClient.ensureQueryData(runQuery(params.application, id))),
    ),
  component: lazyRouteComponent(() => import('./compare-page.tsx'), 'ComparePage'),
});
