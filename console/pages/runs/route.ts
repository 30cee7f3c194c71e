import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { applicationQuery } from '../../client/applications.ts';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { parseRunsSearch, readFilters, readView } from './filters/runs-search.ts';
import { viewsQuery } from './filters/views-query.ts';
import { runCountsQuery, runsQuery } from './queries.ts';

export const runsRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/runs',
  validateSearch: parseRunsSearch,
  // The address of a view has its id alone.
  beforeLoad: async ({ params, search }) => {
    const { view: id, ...state } = search;
    if (id === undefined || Object.keys(state).length > 0) return;
    const { items } = await queryClient.ensureQueryData(viewsQuery(params.application));
    const view = items.find((one) => one.id === id);
    const table = view ? readView(view.table) : {};
    if (Object.keys(table).length > 0)
      throw redirect({
        to: '/apps/$application/runs',
        params,
        search: { ...table, view: id },
        replace: true,
      });
  },
  loaderDeps: ({ search }) => readFilters(search),
  loader: ({ params: { application }, deps }) =>
    Promise.all([
      queryClient.ensureInfiniteQueryData(runsQuery(application, deps)),
      queryClient.ensureQueryData(applicationQuery(application)),
      queryClient.prefetchQuery(runCountsQuery(application, deps)),
    ]),
  component: lazyRouteComponent(() => import('./runs-page.tsx'), 'RunsPage'),
});
