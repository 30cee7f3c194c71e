import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { inputSetQuery, inputSetsQuery } from './queries.ts';

export const inputSetsRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/input-sets',
  loader: ({ params: { application } }) => queryClient.ensureInfiniteQueryData(inputSetsQuery(application)),
  component: lazyRouteComponent(() => import('./input-sets-page.tsx'), 'InputSetsPage'),
});

export const inputSetRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/input-sets/$inputSet',
  // The input whose content is shown.
  validateSearch: ({ input }): { input?: string } => (typeof input === 'string' ? { input } : {}),
  loader: ({ params: { application, inputSet } }) =>
    queryClient.ensureQueryData(inputSetQuery(application, inputSet)),
  component: lazyRouteComponent(() => import('./input-set-page.tsx'), 'InputSetPage'),
});
