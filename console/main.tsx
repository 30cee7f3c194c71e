/** Starts the console in the browser. */
// Before the components, whose styles change these.
import './styles.css';
import { ApiError } from '@switchyard/contract/client.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './client/queries.ts';
import { router } from './router.tsx';

const element = document.getElementById('console');
if (!element) throw new Error('index.html has no element for the console.');
// The page shows a refusal of the server to its reader; it is no error of the console.
const onCaughtError = (error: unknown): void => {
  if (!(error instanceof ApiError)) console.error(error);
};
const root = createRoot(element, { onCaughtError });
// The shell of index.html stays until the first page has its data. A page imports from this script, so an `await` here would
// wait for the page, and the page for the end of this script.
void router.load().then(() =>
  root.render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  ),
);
// The script of the page comes while the account is read, whose request goes first. The page itself reports a failure.
setTimeout(() => {
  const [routes] = router.getMatchedRoutes(router.latestLocation.pathname);
  for (const route of routes) Promise.resolve(router.loadRouteChunk(route)).catch(() => undefined);
});
