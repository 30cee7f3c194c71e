import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { applicationQuery, versionsQuery } from '../../client/applications.ts';
import { queryClient } from '../../client/queries.ts';
import { readText } from '../../client/read-text.ts';
import { applicationRoute } from '../../layout/routes.tsx';

export interface CompareVersionsSearch {
  /** Version before; `latest` is the active executable. */
  from?: string;
  /** Version after. */
  to?: string;
  /** Path of the file whose lines are shown. */
  file?: string;
}

export const compareVersionsRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: 'compare-versions',
  validateSearch: (search): CompareVersionsSearch => {
    const from = readText(search.from);
    const to = readText(search.to);
    const file = readText(search.file);
    return {
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(file !== undefined && { file }),
    };
  },
  loader: ({ params: { application } }) =>
    Promise.all([
      queryClient.ensureQueryData(applicationQuery(application)),
      queryClient.ensureQueryData(versionsQuery(application)),
    ]),
  component: lazyRouteComponent(() => import('./compare-versions-page.tsx'), 'CompareVersionsPage'),
});
