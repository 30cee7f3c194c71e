import { Button } from '../button.tsx';
import styles from './load-more.module.css';

/** The parts of an infinite query that the button needs. */
interface GrowingList {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

/** A button that adds the next page of a list; nothing on its last page. */
export function LoadMore({ list }: { list: GrowingList }) {
  if (!list.hasNextPage) return null;
  return (
    <p className={styles.more}>
      <Button onPress={() => void list.fetchNextPage()} isDisabled={list.isFetchingNextPage}>
        {list.isFetchingNextPage ? 'Loading …' : 'Load more'}
      </Button>
    </p>
  );
}
