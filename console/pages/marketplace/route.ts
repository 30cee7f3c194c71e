import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { subscriptionsQuery } from '../../client/subscriptions.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { appQuery, appsQuery, publishedVersionsQuery, readAppParams } from './queries.ts';

export const marketplaceRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/marketplace',
  loader: () =>
    Promise.all([
      queryClient.ensureInfiniteQueryData(appsQuery),
      queryClient.ensureInfiniteQueryData(subscriptionsQuery),
    ]),
  component: lazyRouteComponent(() => import('./marketplace-page.tsx'), 'MarketplacePage'),
});

export const marketplaceAppRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/marketplace/$partner/$app',
  loader: ({ params }) =>
    Promise.all([
      queryClient.ensureQueryData(appQuery(readAppParams(params))),
      queryClient.ensureQueryData(publishedVersionsQuery(readAppParams(params))),
    ]),
  component: lazyRouteComponent(() => import('./marketplace-app-page.tsx'), 'MarketplaceAppPage'),
});
