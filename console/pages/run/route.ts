import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { runQuery } from './queries.ts';
import { parseRunSearch } from './search.ts';

export const runRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/runs/$run',
  validateSearch: parseRunSearch,
  loader: ({ params }) => queryClient.ensureQueryData(runQuery(params)),
  component: lazyRouteComponent(() => import('./run-page.tsx'), 'RunPage'),
});
