import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { type ReactNode, useEffect, useRef } from 'react';
import { Button } from '../button.tsx';
import styles from './data-table.module.css';

/** The parts of an infinite query that the foot of a list needs. */
interface GrowingList {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isError?: boolean;
  fetchNextPage: () => unknown;
}

interface MoreRowsProps {
  list: GrowingList;
  /** The number of rows so far. */
  count: number;
  /** What a row is, in the singular. */
  noun: string;
  /** The default adds an s. */
  plural?: string;
  children?: ReactNode;
}

/** The foot of a list that comes by pages: how many rows there are, and the next page when the reader scrolls to it. */
export function MoreRows({ list, count, noun, plural = `${noun}s`, children }: MoreRowsProps) {
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = list;
  const foot = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // After an error only a press tries again.
    if (!foot.current || !hasNextPage || isFetchingNextPage || isError) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && fetchNextPage(), {
      rootMargin: '400px',
    });
    observer.observe(foot.current);
    return () => observer.disconnect();
  }, [hasNextPage, isFetchingNextPage, isError, fetchNextPage]);
  if (count === 0 && !hasNextPage) return null;
  const total = `${formatNumber(count)} ${count === 1 ? noun : plural}`;
  return (
    <div ref={foot} className={styles.foot}>
      <span role="status">{hasNextPage ? `${total} so far. More come as you scroll.` : `${total}.`}</span>{' '}
      {hasNextPage && (
        <Button kind="quiet" onPress={() => fetchNextPage()} isDisabled={isFetchingNextPage}>
          {isFetchingNextPage ? 'Loading …' : 'Load more'}
        </Button>
      )}
      {children}
    </div>
  );
}
