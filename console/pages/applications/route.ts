import { hasRight } from '@switchyard/contract/roles.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { listFailing } from '../../client/recent-runs.ts';
import { accountQuery } from '../../client/session.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { applicationPagesQuery, latestUsageQuery, listSummaryQueries } from './queries.ts';

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
    const [failing, { pages }] = await Promise.all([
      loadFailing().catch(() => []),
      queryClient.ensureInfiniteQueryData(applicationPagesQuery(find)),
    ]);
    // What needs someone stands above the list, which must not move when it comes.
    if (failing.length > 0) {
      const queries = listSummaryQueries(pages[0]?.items ?? [], failing);
      await Promise.all(queries.map((query) => queryClient.ensureQueryData(query).catch(() => {})));
    }
    return { failing };
  },
  component: lazyRouteComponent(() => import('./applications-page.tsx'), 'ApplicationsPage'),
});

/** Returns the applications in which most runs failed lately. Only administrators can read that. */
async function loadFailing(): Promise<string[]> {
  const { key } = await queryClient.ensureQueryData(accountQuery);
  if (!hasRight(key.role, 'account')) return [];
  const { items } = await queryClient.ensureQueryData(latestUsageQuery());
  return listFailing(items).slice(0, NEEDS_MAX);
}
