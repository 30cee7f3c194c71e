import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { type NewRunSearch, newRunQuery } from './queries.ts';

export const newRunRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: 'new-run',
  validateSearch: (search): NewRunSearch => ({
    ...(typeof search.from === 'string' && { from: search.from }),
    ...(typeof search.instance === 'string' && { instance: search.instance }),
    ...(typeof search.input === 'string' && { input: search.input }),
  }),
  loaderDeps: ({ search }) => search,
  loader: ({ params, deps }) => queryClient.ensureQueryData(newRunQuery(params.application, deps)),
  component: lazyRouteComponent(() => import('./new-run-page.tsx'), 'NewRunPage'),
});
