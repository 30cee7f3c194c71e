/** Opens the stream of the account while the page shows a query that it changes. */
import { useSyncExternalStore } from 'react';
import { accountChanges, hasTopics } from '../client/account-changes.ts';
import { client } from '../client/client.ts';
import { useEvents } from '../client/events.ts';
import { queryClient } from '../client/queries.ts';

const cache = queryClient.getQueryCache();
const subscribe = (onChange: () => void) => cache.subscribe(onChange);
const hasLiveQueries = (): boolean =>
  cache.getAll().some((query) => hasTopics(query) && query.getObserversCount() > 0);

/** Keeps the lists of the page up to date. All components share the one stream. */
export function useAccountEvents(): void {
  const isNeeded = useSyncExternalStore(subscribe, hasLiveQueries);
  useEvents(isNeeded ? 'account' : null, {
    open: (extras) => client.call('streamAccountEvents', extras),
    onEvent: (event) => accountChanges.handleEvent(event),
    onConnection: (isOpen) => accountChanges.setLive(isOpen),
  });
}
