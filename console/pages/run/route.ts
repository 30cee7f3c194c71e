import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { applicationRoute } from '../../layout/routes.tsx';
import { loadRun } from './queries.ts';
import { parseRunSearch } from './search.ts';

export const runRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/runs/$run',
  validateSearch: parseRunSearch,
  // Imported with the page: the script of the first page has no parts of others. The run is read while it comes.
  loader: async ({ params, location }) => {
    const run = loadRun(params);
    const { loadRunPage } = await import('./load-run-page.ts');
    return loadRunPage(params, parseRunSearch(location.search), await run);
  },
  component: lazyRouteComponent(() => import('./run-page.tsx'), 'RunPage'),
});
