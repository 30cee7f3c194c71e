import { hasRight } from '@switchyard/contract/roles.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { accountQuery } from '../../client/session.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { provisionerQuery, workersQuery, workerTokensQuery } from './queries.ts';

export const workersRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/workers',
  loader: () =>
    Promise.all([
      queryClient.ensureQueryData(workersQuery),
      queryClient.ensureQueryData(provisionerQuery),
      loadWorkerTokens(),
    ]),
  component: lazyRouteComponent(() => import('./workers-page.tsx'), 'WorkersPage'),
});

/** Loads the worker tokens for a person who may read them. */
async function loadWorkerTokens(): Promise<void> {
  const { key } = await queryClient.ensureQueryData(accountQuery);
  if (hasRight(key.role, 'account')) await queryClient.ensureQueryData(workerTokensQuery);
}
