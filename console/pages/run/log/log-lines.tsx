import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { formatNumber } from '../../../ui/format-quantity.ts';
import { splitAtMatches } from './find-matches.ts';
import styles from './log-tab.module.css';

/** The height of a line in log-tab.module.css. */
const LINE_PX = 20;
const OVERSCAN_LINES = 20;
/** Longer lines slow the scrolling down; the download has them whole. */
const LINE_CHARS_MAX = 4_000;
/** So close to the end, the person has scrolled to it. */
const END_PX = 2 * LINE_PX;

interface LogLinesProps {
  lines: readonly string[];
  /** The indexes of the lines in the whole log; undefined when these are all. */
  indexes: readonly number[] | undefined;
  searched: string;
  /** Index of the line with the current match. */
  current: number | undefined;
  isFollowing: boolean;
  onFollow: (isFollowing: boolean) => void;
  emptyText: string;
}

/** The visible lines of a log of any length. */
export function LogLines({
  lines,
  indexes,
  searched,
  current,
  isFollowing,
  onFollow,
  emptyText,
}: LogLinesProps) {
  const element = useRef<HTMLElement>(null);
  const list = useVirtualizer({
    count: lines.length,
    getScrollElement: () => element.current,
    estimateSize: () => LINE_PX,
    overscan: OVERSCAN_LINES,
  });
  useEffect(() => {
    if (isFollowing && lines.length > 0) list.scrollToIndex(lines.length - 1, { align: 'end' });
  }, [isFollowing, lines.length, list]);
  useEffect(() => {
    if (current !== undefined) list.scrollToIndex(current, { align: 'center' });
  }, [current, list]);
  const stopFollowing = () => {
    const box = element.current;
    if (box && isFollowing && box.scrollHeight - box.scrollTop - box.clientHeight > END_PX) onFollow(false);
  };
  return (
    <section
      ref={element}
      className={styles.lines}
      aria-label="Log"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reachable by keyboard
      tabIndex={0}
      onWheel={stopFollowing}
      onKeyUp={stopFollowing}
    >
      {lines.length === 0 && <p className={styles.empty}>{emptyText}</p>}
      <div className={styles.canvas} style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, start }) => (
          <div
            key={index}
            className={styles.line}
            data-current={index === current || undefined}
            style={{ transform: `translateY(${start}px)` }}
          >
            <span className={styles.number} aria-hidden="true">
              {(indexes?.[index] ?? index) + 1}
            </span>
            <LineText line={lines[index] ?? ''} searched={searched} />
          </div>
        ))}
      </div>
    </section>
  );
}

function LineText({ line, searched }: { line: string; searched: string }) {
  const visible = line.slice(0, LINE_CHARS_MAX);
  return (
    <bdi>
      {splitAtMatches(visible, searched).map((part, index) =>
        index % 2 === 1 ? <mark key={index}>{part}</mark> : part,
      )}
      {visible.length < line.length && ` … (${formatNumber(line.length)} characters)`}
    </bdi>
  );
}
