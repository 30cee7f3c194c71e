import { useIsMutating } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';
import { useDelayed } from '../ui/use-delayed.ts';
import styles from './progress-bar.module.css';

/** A bar below the header while a page loads or an action runs for longer than half a second. */
export function ProgressBar() {
  const isNavigating = useRouterState({ select: ({ status }) => status === 'pending' });
  const isBusy = useIsMutating() > 0 || isNavigating;
  const isVisible = useDelayed(isBusy);
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
