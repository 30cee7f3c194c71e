/** Addresses that only begin those of pages. Each leads to the list or the section that a person expects there. */
import { createRoute, redirect } from '@tanstack/react-router';
import { applicationRoute, consoleRoute } from './routes.tsx';

/** The prefixes of pages of the account and the platform. */
export const prefixRoutes = [
  createRoute({
    getParentRoute: () => consoleRoute,
    path: '/apps',
    beforeLoad: () => {
      throw redirect({ to: '/', replace: true });
    },
  }),
  createRoute({
    getParentRoute: () => consoleRoute,
    path: '/account',
    beforeLoad: () => {
      throw redirect({ to: '/account/members', replace: true });
    },
  }),
  createRoute({
    getParentRoute: () => consoleRoute,
    path: '/marketplace/$partner',
    beforeLoad: () => {
      throw redirect({ to: '/marketplace', replace: true });
    },
  }),
] as const;

/** The prefixes of pages of one application. */
export const applicationPrefixRoutes = [
  ...(['instances', 'versions'] as const).map((hash) =>
    createRoute({
      getParentRoute: () => applicationRoute,
      path: hash,
      beforeLoad: ({ params }) => {
        throw redirect({ to: '/apps/$application', params, hash, replace: true });
      },
    }),
  ),
  createRoute({
    getParentRoute: () => applicationRoute,
    path: '/experiments/$type',
    beforeLoad: ({ params: { application } }) => {
      throw redirect({ to: '/apps/$application/experiments', params: { application }, replace: true });
    },
  }),
  createRoute({
    getParentRoute: () => applicationRoute,
    path: '/ensembles/$ensemble/runs',
    beforeLoad: ({ params }) => {
      throw redirect({ to: '/apps/$application/ensembles/$ensemble', params, replace: true });
    },
  }),
] as const;
