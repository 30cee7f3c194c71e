/** Whether the server can be reached, as the requests of the page have found. */
import { onlineManager, type Query } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { queryClient } from './queries.ts';

/** Returns true for a query of the page whose last attempt did not reach the server. */
function isLostQuery({ state }: Query): boolean {
  return state.error instanceof TypeError || state.fetchFailureReason instanceof TypeError;
}

/** One watcher for all parts of the page, which ask it in each render. */
class Connection {
  #isLost = false;
  readonly #listeners = new Set<() => void>();

  constructor() {
    onlineManager.subscribe(() => this.#update());
    queryClient.getQueryCache().subscribe(() => this.#update());
  }

  readonly isLost = (): boolean => this.#isLost;

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  };

  /** Reads again what did not reach the server. */
  readonly retry = (): void => {
    void queryClient.refetchQueries({ type: 'active', predicate: isLostQuery });
  };

  #update(): void {
    const queries = queryClient.getQueryCache().getAll();
    const isTried = (query: Query): boolean => query.isActive() || query.state.fetchStatus !== 'idle';
    const isLost = !onlineManager.isOnline() || queries.some((one) => isTried(one) && isLostQuery(one));
    if (isLost === this.#isLost) return;
    this.#isLost = isLost;
    // The query cache also tells about changes that a render makes, during which no other may be asked for.
    queueMicrotask(() => {
      for (const onChange of this.#listeners) onChange();
    });
  }
}

export const connection = new Connection();

/** Returns true while the server cannot be reached: time stands still then, and actions are off. */
export function useIsLost(): boolean {
  return useSyncExternalStore(connection.subscribe, connection.isLost);
}
