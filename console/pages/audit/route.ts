import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { auditQuery } from './queries.ts';
import { parseAuditSearch } from './search.ts';

export const auditRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/account/audit',
  validateSearch: parseAuditSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => queryClient.ensureInfiniteQueryData(auditQuery(deps)),
  component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
});
