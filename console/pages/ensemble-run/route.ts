import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { ensembleRunQuery } from './queries.ts';

export const ensembleRunRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/ensembles/$ensemble/runs/$run',
  loader: ({ params: { application, run } }) =>
    queryClient.ensureQueryData(ensembleRunQuery(application, run)),
  component: lazyRouteComponent(() => import('./ensemble-run-page.tsx'), 'EnsembleRunPage'),
});
