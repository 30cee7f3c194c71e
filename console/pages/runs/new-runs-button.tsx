import { Button } from '../../ui/button.tsx';
import styles from './runs-page.module.css';

/** Says how many runs are new while the page is scrolled down, and shows them. It covers the table and moves nothing. */
export function NewRunsButton({ count, onPress }: { count: number; onPress: () => void }) {
  return (
    <div className={styles.news} role="status">
      {count > 0 && (
        <Button kind="primary" onPress={onPress}>
          {count} new {count === 1 ? 'run' : 'runs'}
        </Button>
      )}
    </div>
  );
}
