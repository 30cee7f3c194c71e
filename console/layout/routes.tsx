/** The routes that hold others: the root, the layout of signed-in pages, and the pages of one application. */
import { createRootRoute, createRoute, Outlet, redirect } from '@tanstack/react-router';
import { isSignedOut } from '../client/client.ts';
import { queryClient } from '../client/queries.ts';
import { accountQuery } from '../client/session.ts';
import { NotFound } from '../ui/not-found.tsx';
import { Layout } from './layout.tsx';

export const rootRoute = createRootRoute({
  component: Outlet,
});

/**
 * The layout of all pages that need a session. It loads the account before them, or goes to the sign-in page. The address of
 * a sign-in link goes there too, with its ticket and the page that it leads to.
 */
export const consoleRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  component: Layout,
  async beforeLoad({ location }) {
    const search = new URLSearchParams(location.searchStr);
    const ticket = search.get('ticket');
    const next = search.get('next');
    if (ticket !== null)
      throw redirect({ to: '/sign-in', search: { ticket, ...(next !== null && { next }) } });
    try {
      await queryClient.ensureQueryData(accountQuery);
    } catch (error) {
      if (!isSignedOut(error)) throw error;
      throw redirect({ to: '/sign-in', search: { next: location.href } });
    }
  },
});

/** An address that names no page, inside the layout, so that the navigation leads on. */
export const unknownRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/$',
  component: NotFound,
});

/** The pages of one application. */
export const applicationRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/apps/$application',
});
