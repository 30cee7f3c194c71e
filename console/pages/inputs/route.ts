import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { inputsQuery } from '../../client/inputs.ts';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { type ContentMode, parseContentMode } from '../../ui/content/content-mode.ts';
import { inputQuery } from './queries.ts';

export const inputsRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/inputs',
  loader: ({ params: { application } }) => queryClient.ensureInfiniteQueryData(inputsQuery(application)),
  component: lazyRouteComponent(() => import('./inputs-page.tsx'), 'InputsPage'),
});

export const inputRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/inputs/$input',
  validateSearch: (search): { mode?: ContentMode } => {
    const mode = parseContentMode(search.mode);
    return mode ? { mode } : {};
  },
  loader: ({ params: { application, input } }) => queryClient.ensureQueryData(inputQuery(application, input)),
  component: lazyRouteComponent(() => import('./input-page.tsx'), 'InputPage'),
});
