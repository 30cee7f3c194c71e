import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { applicationQuery, instanceQuery, versionsQuery } from '../../client/applications.ts';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { collectionsQuery } from './queries.ts';

/** Loads the choices of the form, which both pages show. */
const loadChoices = (application: string) => [
  queryClient.ensureQueryData(applicationQuery(application)),
  queryClient.ensureQueryData(versionsQuery(application)),
  queryClient.ensureQueryData(collectionsQuery(application)),
];

export interface NewInstanceSearch {
  /** Version that the form opens with; the default is the newest. */
  version?: string;
}

export const newInstanceRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: 'new-instance',
  validateSearch: (search): NewInstanceSearch =>
    typeof search.version === 'string' ? { version: search.version } : {},
  loader: ({ params: { application } }) => Promise.all(loadChoices(application)),
  component: lazyRouteComponent(() => import('./new-instance-page.tsx'), 'NewInstancePage'),
});

export const instanceRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: 'instances/$instance',
  loader: ({ params: { application, instance } }) =>
    Promise.all([
      ...loadChoices(application),
      queryClient.ensureQueryData(instanceQuery(application, instance)),
    ]),
  component: lazyRouteComponent(() => import('./instance-page.tsx'), 'InstancePage'),
});
