import { useIsMutating } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import styles from './progress-bar.module.css';

/** A page that loads faster shows nothing, because a flash distracts. */
const DELAY_MS = 500;

/** A bar below the header while a page loads or an action runs for longer than half a second. */
export function ProgressBar() {
  const isNavigating = useRouterState({ select: ({ status }) => status === 'pending' });
  const isBusy = useIsMutating() > 0 || isNavigating;
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    if (!isBusy) return setVisible(false);
    const timer = setTimeout(() => setVisible(true), DELAY_MS);
    return () => clearTimeout(timer);
  }, [isBusy]);
  if (!isVisible) return null;
  return (
    <div
      className={styles.track}
      role="progressbar"
      aria-label={isNavigating ? 'Loading the page' : 'Working'}
    >
      <div className={styles.bar} />
    </div>
  );
}
