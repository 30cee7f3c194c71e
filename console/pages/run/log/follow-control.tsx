import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useState } from 'react';
import { Segments } from '../../../ui/options/segments.tsx';
import styles from './follow-control.module.css';

/** A log that follows its end, or stands still with the number of lines that came since. */
export interface Following {
  isFollowing: boolean;
  setFollowing: (isFollowing: boolean) => void;
  /** Lines that came after the reader scrolled up. */
  fresh: number;
}

/** Returns whether the log with so many lines follows its end. */
export function useFollowing(initial: boolean, lineCount: number): Following {
  // The number of lines at which the reader left the end; undefined while the log follows.
  const [leftAt, setLeftAt] = useState<number | undefined>(initial ? undefined : lineCount);
  return {
    isFollowing: leftAt === undefined,
    setFollowing: (isFollowing) => setLeftAt((before) => (isFollowing ? undefined : (before ?? lineCount))),
    fresh: leftAt === undefined ? 0 : Math.max(0, lineCount - leftAt),
  };
}

/** The choice between following the end of a log and standing still. */
export function FollowControl({ isFollowing, setFollowing }: Following) {
  return (
    <Segments
      label="End of the log"
      options={[
        [true, 'Follow'],
        [false, 'Pause'],
      ]}
      chosen={isFollowing}
      onChoose={setFollowing}
    />
  );
}

/** Says how many lines came since the reader scrolled up, and leads to them. Nothing before there is one. */
export function FreshLines({ fresh, setFollowing }: Following) {
  if (fresh === 0) return null;
  return (
    <button type="button" className={styles.fresh} onClick={() => setFollowing(true)}>
      {formatNumber(fresh)} new {fresh === 1 ? 'line' : 'lines'}
    </button>
  );
}
