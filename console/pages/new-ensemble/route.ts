import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { instancesQuery } from './queries.ts';

export const newEnsembleRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/new-ensemble',
  loader: ({ params: { application } }) => queryClient.ensureQueryData(instancesQuery(application)),
  component: lazyRouteComponent(() => import('./new-ensemble-page.tsx'), 'NewEnsemblePage'),
});
