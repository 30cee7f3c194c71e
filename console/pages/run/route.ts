import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { applicationRoute } from '../../layout/routes.tsx';
import { parseRunSearch } from './search.ts';

export const runRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/runs/$run',
  validateSearch: parseRunSearch,
  // Imported with the page: the script of the first page has no parts of others.
  loader: async ({ params, location }) =>
    (await import('./load-run-page.ts')).loadRunPage(params, parseRunSearch(location.search)),
  component: lazyRouteComponent(() => import('./run-page.tsx'), 'RunPage'),
});
