import { hasRight } from '@switchyard/contract/roles.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { listFailing } from '../../client/recent-runs.ts';
import { accountQuery } from '../../client/session.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { applicationPagesQuery, latestUsageQuery, summariesQuery } from './queries.ts';

interface ApplicationsSearch {
  /** A part of the name or id of the listed applications. */
  find?: string;
}

/** The applications whose runs are read to see whether they still fail. */
const NEEDS_MAX = 4;

export const applicationsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/',
  validateSearch: (search): ApplicationsSearch =>
    search.find === undefined || search.find === '' ? {} : { find: String(search.find) },
  loader: async ({ location }) => {
    const find = new URLSearchParams(location.searchStr).get('find') ?? '';
    const [failing] = await Promise.all([
      loadFailing().catch(() => []),
      queryClient.ensureInfiniteQueryData(applicationPagesQuery(find)),
    ]);
    return { failing };
  },
  component: lazyRouteComponent(() => import('./applications-page.tsx'), 'ApplicationsPage'),
});

/** Returns the applications in which most runs failed lately, with their runs loaded. Only administrators can read that. */
async function loadFailing(): Promise<string[]> {
  const { key } = await queryClient.ensureQueryData(accountQuery);
  if (!hasRight(key.role, 'account')) return [];
  const { items } = await queryClient.ensureQueryData(latestUsageQuery());
  const failing = listFailing(items).slice(0, NEEDS_MAX);
  if (failing.length > 0) await queryClient.ensureQueryData(summariesQuery(failing));
  return failing;
}
