import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { ensembleQuery, ensemblesQuery } from './queries.ts';

export const ensemblesRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/ensembles',
  loader: ({ params: { application } }) => queryClient.ensureInfiniteQueryData(ensemblesQuery(application)),
  component: lazyRouteComponent(() => import('./ensembles-page.tsx'), 'EnsemblesPage'),
});

export const ensembleRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/ensembles/$ensemble',
  loader: ({ params: { application, ensemble } }) =>
    queryClient.ensureQueryData(ensembleQuery(application, ensemble)),
  component: lazyRouteComponent(() => import('./ensemble-page.tsx'), 'EnsemblePage'),
});
