import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../layout/routes.tsx';

/** The query as the provider sent it. The router would read a code of digits as a number, and round it. */
const ARRIVAL_QUERY = typeof location === 'undefined' ? '' : location.search.slice(1);

export const callbackRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in/callback',
  loader: () => ARRIVAL_QUERY,
  component: lazyRouteComponent(() => import('./callback-page.tsx'), 'CallbackPage'),
});
