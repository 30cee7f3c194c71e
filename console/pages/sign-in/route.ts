import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../layout/routes.tsx';

export interface SignInSearch {
  /** The ticket of a sign-in link. */
  ticket?: string;
  /** The page of the console to show after the sign-in. */
  next?: string;
}

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search): SignInSearch => ({
    ...(typeof search.ticket === 'string' && { ticket: search.ticket }),
    ...(typeof search.next === 'string' && { next: search.next }),
  }),
  component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
});
