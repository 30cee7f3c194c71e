import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { applicationRoute } from '../../layout/routes.tsx';
import { parseSearch } from './search.ts';

/** The content of a run over the full width: the address that a planner keeps. */
export const runContentRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/runs/$run/content',
  validateSearch: parseSearch,
  component: lazyRouteComponent(() => import('./run-content-page.tsx'), 'RunContentPage'),
});
