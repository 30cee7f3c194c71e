/** The tree of pages. Each page is a module that loads when it is first visited. */
import { createRouter } from '@tanstack/react-router';
import { applicationPrefixRoutes, prefixRoutes } from './layout/prefix-routes.ts';
import { applicationRoute, consoleRoute, rootRoute, unknownRoute } from './layout/routes.tsx';
import { applicationOverviewRoute } from './pages/application/route.ts';
import { applicationsRoute } from './pages/applications/route.ts';
import { auditRoute } from './pages/audit/route.ts';
import { backupsRoute } from './pages/backups/route.ts';
import { compareRoute } from './pages/compare/route.ts';
import { compareVersionsRoute } from './pages/compare-versions/route.ts';
import { deviceRoute } from './pages/device/route.ts';
import { ensembleRunRoute } from './pages/ensemble-run/route.ts';
import { ensembleRoute, ensemblesRoute } from './pages/ensembles/route.ts';
import { experimentRoute } from './pages/experiment/route.ts';
import { experimentsRoute } from './pages/experiments/route.ts';
import { inputSetRoute, inputSetsRoute } from './pages/input-sets/route.ts';
import { inputRoute, inputsRoute } from './pages/inputs/route.ts';
import { instanceRoute, newInstanceRoute } from './pages/instance/route.ts';
import { keysRoute } from './pages/keys/route.ts';
import { logSearchRoute } from './pages/log-search/route.ts';
import { marketplaceAppRoute, marketplaceRoute } from './pages/marketplace/route.ts';
import { membersRoute } from './pages/members/route.ts';
import { newEnsembleRoute } from './pages/new-ensemble/route.ts';
import { newExperimentRoute } from './pages/new-experiment/route.ts';
import { newRunRoute } from './pages/new-run/route.ts';
import { queueRoute } from './pages/queue/route.ts';
import { quotasRoute } from './pages/quotas/route.ts';
import { retentionRoute } from './pages/retention/route.ts';
import { runRoute } from './pages/run/route.ts';
import { runContentRoute } from './pages/run-content/route.ts';
import { runsRoute } from './pages/runs/route.ts';
import { secretsRoute } from './pages/secrets/route.ts';
import { sessionsRoute } from './pages/sessions/route.ts';
import { sharedRoute } from './pages/shared-run/route.ts';
import { sharesRoute } from './pages/shares/route.ts';
import { callbackRoute } from './pages/sign-in/callback-route.ts';
import { signInRoute } from './pages/sign-in/route.ts';
import { usageRoute } from './pages/usage/route.ts';
import { webhookRoute, webhooksRoute } from './pages/webhooks/route.ts';
import { workersRoute } from './pages/workers/route.ts';
import { NotFound } from './ui/not-found.tsx';
import { PageError } from './ui/page-error.tsx';
import { PageSkeleton } from './ui/page-skeleton.tsx';

const routeTree = rootRoute.addChildren([
  signInRoute,
  callbackRoute,
  sharedRoute,
  consoleRoute.addChildren([
    ...prefixRoutes,
    applicationsRoute,
    marketplaceRoute,
    marketplaceAppRoute,
    membersRoute,
    keysRoute,
    sessionsRoute,
    deviceRoute,
    sharesRoute,
    auditRoute,
    usageRoute,
    quotasRoute,
    backupsRoute,
    retentionRoute,
    queueRoute,
    workersRoute,
    webhooksRoute,
    webhookRoute,
    unknownRoute,
    applicationRoute.addChildren([
      ...applicationPrefixRoutes,
      newRunRoute,
      compareRoute,
      runRoute,
      applicationOverviewRoute,
      runsRoute,
      runContentRoute,
      logSearchRoute,
      ensemblesRoute,
      newEnsembleRoute,
      ensembleRoute,
      ensembleRunRoute,
      experimentsRoute,
      experimentRoute,
      newExperimentRoute,
      inputsRoute,
      inputRoute,
      inputSetsRoute,
      inputSetRoute,
      newInstanceRoute,
      compareVersionsRoute,
      instanceRoute,
      secretsRoute,
    ]),
  ]),
]);

/** A page that loads faster replaces the last one without a skeleton between them. */
const SKELETON_AFTER_MS = 500;

/** The router of the console. A resource that does not exist shows a 404 in place of its page. */
export const router = createRouter({
  routeTree,
  basepath: '/console',
  defaultPreload: 'intent',
  defaultNotFoundComponent: NotFound,
  defaultPendingComponent: PageSkeleton,
  defaultPendingMs: SKELETON_AFTER_MS,
  defaultErrorComponent: ({ error }) => <PageError error={error} />,
  scrollRestoration: true,
});

// A page whose filters are in the address keeps its rows and its fields while it loads others.
for (const { options } of Object.values(router.routesById))
  if (options.loaderDeps) options.pendingMs = Number.POSITIVE_INFINITY;

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
