import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { Icon } from '@switchyard/design/icon.tsx';
import { onlineManager, type Query } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { queryClient } from '../client/queries.ts';
import { useNow } from '../ui/relative-time.tsx';
import styles from './connection-strip.module.css';

const RETRY_MS = 5_000;
const TICK_MS = 1_000;
const cache = queryClient.getQueryCache();

/** Returns true for a query of the page whose last attempt did not reach the server. */
function isLost({ state }: Query): boolean {
  return state.error instanceof TypeError || state.fetchFailureReason instanceof TypeError;
}

/** Says above the page that the server cannot be reached, and reads the page again when it can. */
export function ConnectionStrip() {
  const isOnline = useSyncExternalStore(
    (onChange) => onlineManager.subscribe(onChange),
    () => onlineManager.isOnline(),
  );
  const hasFailed = useSyncExternalStore(
    (onChange) => cache.subscribe(onChange),
    () => cache.getAll().some((query) => query.isActive() && isLost(query)),
  );
  return isOnline && !hasFailed ? null : <LostStrip />;
}

function retry(): void {
  void queryClient.refetchQueries({ type: 'active', predicate: isLost });
}

function LostStrip() {
  const [since] = useState(() => Date.now());
  const now = useNow(TICK_MS);
  const router = useRouter();
  useEffect(() => {
    const timer = setInterval(retry, RETRY_MS);
    return () => {
      clearInterval(timer);
      void router.invalidate();
    };
  }, [router]);
  const seconds = Math.max(TICK_MS, TICK_MS * Math.round((now - since) / TICK_MS));
  return (
    <div className={styles.strip}>
      <Icon name="offline" />
      <span role="status">Connection lost</span>
      <span aria-hidden="true">{formatDuration(seconds)} ago</span>
      <span className={styles.soft}>trying again</span>
      <button type="button" onClick={retry}>
        Now
      </button>
    </div>
  );
}
