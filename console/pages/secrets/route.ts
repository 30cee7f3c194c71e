import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { applicationQuery } from '../../client/applications.ts';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { collectionsQuery } from './queries.ts';

export const secretsRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/secrets',
  // The collection whose secrets can be changed.
  validateSearch: ({ collection }): { collection?: string } =>
    typeof collection === 'string' ? { collection } : {},
  loader: ({ params: { application } }) =>
    Promise.all([
      queryClient.ensureQueryData(applicationQuery(application)),
      queryClient.ensureInfiniteQueryData(collectionsQuery(application)),
    ]),
  component: lazyRouteComponent(() => import('./secrets-page.tsx'), 'SecretsPage'),
});
