import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { Icon } from '@switchyard/design/icon.tsx';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { connection, useIsLost } from '../client/connection.ts';
import styles from './connection-strip.module.css';

const RETRY_MS = 5_000;
const TICK_MS = 1_000;

/** Says above the page that the server cannot be reached, and reads the page again when it can. */
export function ConnectionStrip() {
  return useIsLost() ? <LostStrip /> : null;
}

function LostStrip() {
  const [seconds, setSeconds] = useState(1);
  const router = useRouter();
  useEffect(() => {
    const timer = setInterval(connection.retry, RETRY_MS);
    const clock = setInterval(() => setSeconds((count) => count + 1), TICK_MS);
    document.documentElement.dataset.stale = '';
    return () => {
      clearInterval(timer);
      clearInterval(clock);
      delete document.documentElement.dataset.stale;
      void router.invalidate();
    };
  }, [router]);
  return (
    <div className={styles.strip}>
      <Icon name="offline" />
      <span role="status">Connection lost</span>
      <span aria-hidden="true">{formatDuration(TICK_MS * seconds)} ago</span>
      <span className={styles.soft}>trying again</span>
      <button type="button" onClick={connection.retry}>
        Now
      </button>
    </div>
  );
}
