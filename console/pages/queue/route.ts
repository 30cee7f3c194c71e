import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { readText } from '../../client/read-text.ts';
import { consoleRoute } from '../../layout/routes.tsx';
import { queueQuery, queueWorkersQuery } from './queries.ts';

interface QueueSearch {
  /** Words of the name, the id or the user of a waiting run. */
  text?: string;
  application?: string;
}

function parseSearch({ text, application }: Record<string, unknown>): QueueSearch {
  const [words, id] = [readText(text), readText(application)];
  return { ...(words && { text: words }), ...(id && { application: id }) };
}

export const queueRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/queue',
  validateSearch: parseSearch,
  loader: () =>
    Promise.all([queryClient.ensureQueryData(queueQuery), queryClient.ensureQueryData(queueWorkersQuery)]),
  component: lazyRouteComponent(() => import('./queue-page.tsx'), 'QueuePage'),
});
