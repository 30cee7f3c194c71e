import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../layout/routes.tsx';

/** The page of a share link, which needs no sign-in. */
export const sharedRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shared/$token',
  component: lazyRouteComponent(() => import('./shared-run-page.tsx'), 'SharedRunPage'),
});
