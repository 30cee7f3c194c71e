import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { applicationRoute } from '../../layout/routes.tsx';
import { parseLogSearch } from './search.ts';

export const logSearchRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/logs',
  validateSearch: parseLogSearch,
  component: lazyRouteComponent(() => import('./log-search-page.tsx'), 'LogSearchPage'),
});
