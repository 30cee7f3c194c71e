import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { applicationQuery, instancesQuery, versionsQuery } from '../../client/applications.ts';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { recentRunsQuery } from './queries.ts';

export interface ApplicationSearch {
  /** Indicator of the chart. */
  indicator?: string;
}

export const applicationOverviewRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/',
  validateSearch: (search): ApplicationSearch =>
    typeof search.indicator === 'string' ? { indicator: search.indicator } : {},
  loader: ({ params: { application } }) =>
    Promise.all([
      queryClient.ensureQueryData(applicationQuery(application)),
      queryClient.ensureQueryData(instancesQuery(application)),
      queryClient.ensureQueryData(versionsQuery(application)),
      queryClient.ensureQueryData(recentRunsQuery(application)),
    ]),
  component: lazyRouteComponent(() => import('./application-page.tsx'), 'ApplicationPage'),
});
