import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { instancesQuery } from '../../client/applications.ts';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';

export const newEnsembleRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/new-ensemble',
  loader: ({ params: { application } }) => queryClient.ensureQueryData(instancesQuery(application)),
  component: lazyRouteComponent(() => import('./new-ensemble-page.tsx'), 'NewEnsemblePage'),
});
