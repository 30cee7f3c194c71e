import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { readLogLevel } from '@switchyard/contract/runs/logs/log-levels.ts';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';
import { listIndexes, useRowRange } from '../../../ui/data-table/use-row-range.ts';
import { MarkedText } from '../../../ui/log/marked-text.tsx';
import type { LogSearch } from './log-search.ts';
import styles from './log-tab.module.css';
import type { LogText } from './log-text.ts';
import { formatClockTime, formatExactTime, formatSinceStart, type LogTimes } from './log-times.ts';

/** The height of a line in log-tab.module.css. */
const LINE_PX = 20;
const OVERSCAN_LINES = 20;
/** Longer lines slow the scrolling down; the download has them whole. */
const LINE_CHARS_MAX = 4_000;
/** So close to the end, the person has scrolled to it. */
const END_PX = 2 * LINE_PX;

interface LogLinesProps {
  log: LogText;
  /** The indexes of the visible lines in the log; undefined when these are all. */
  indexes: readonly number[] | undefined;
  times: LogTimes;
  /** The start of the run in milliseconds since the epoch. */
  start: number | undefined;
  search: LogSearch;
  searched: string;
  /** Positions among the visible lines: the current match, and the line of the address. */
  current: number | undefined;
  chosen: number | undefined;
  onChooseLine: (line: number) => void;
  isFollowing: boolean;
  onFollow: (isFollowing: boolean) => void;
  emptyText: string;
}

/** The visible lines of a log of any length. */
export function LogLines(props: LogLinesProps) {
  const { log, indexes, search } = props;
  const element = useRef<HTMLElement>(null);
  const count = indexes?.length ?? log.lineCount;
  // Lines that wrap differ in height, so they are measured, which takes half a second for a million of them.
  const measured = useVirtualizer({
    count: search.wrap ? count : 0,
    getScrollElement: () => element.current,
    estimateSize: () => LINE_PX,
    overscan: OVERSCAN_LINES,
  });
  const range = useRowRange({ count, height: LINE_PX, box: element });
  const rows = search.wrap
    ? measured.getVirtualItems()
    : listIndexes(range).map((index) => ({ index, start: index * LINE_PX }));
  useScrolling(props, count, (position, align) => {
    if (search.wrap) measured.scrollToIndex(position, { align });
    else scrollToLine(element.current, position, align);
  });
  const stopFollowing = () => {
    const box = element.current;
    if (box && props.isFollowing && box.scrollHeight - box.scrollTop - box.clientHeight > END_PX)
      props.onFollow(false);
  };
  return (
    <section
      ref={element}
      className={styles.lines}
      aria-label="Log"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reachable by keyboard
      tabIndex={0}
      // Before the browser scrolls: a line that comes between would scroll back to the end.
      onWheel={({ deltaY }) => deltaY < 0 && props.isFollowing && props.onFollow(false)}
      onTouchMove={stopFollowing}
      onKeyUp={stopFollowing}
    >
      {count === 0 && <p className={styles.empty}>{props.emptyText}</p>}
      <div
        className={styles.canvas}
        style={{ height: search.wrap ? measured.getTotalSize() : count * LINE_PX }}
      >
        {rows.map(({ index: position, start }) => (
          <div
            key={position}
            ref={search.wrap ? measured.measureElement : undefined}
            data-index={position}
            className={search.wrap ? `${styles.line} ${styles.wrapped}` : styles.line}
            data-level={readLogLevel(log.getLine(indexes?.[position] ?? position))}
            data-current={position === props.current || undefined}
            data-chosen={position === props.chosen || undefined}
            style={{ transform: `translateY(${start}px)` }}
          >
            <Line {...props} index={indexes?.[position] ?? position} />
          </div>
        ))}
      </div>
    </section>
  );
}

function scrollToLine(box: HTMLElement | null, position: number, align: 'center' | 'end'): void {
  if (!box) return;
  const end = (position + 1) * LINE_PX;
  // The browser stops at the end, and reading its position first would lay the page out once more.
  box.scrollTop = align === 'end' ? end : end - LINE_PX / 2 - box.clientHeight / 2;
}

/** Keeps the end in view while the log is followed, and scrolls to the current match and the line of the address. */
function useScrolling(
  { isFollowing, current, chosen }: LogLinesProps,
  count: number,
  scrollTo: (position: number, align: 'center' | 'end') => void,
): void {
  const scroll = useRef(scrollTo);
  useEffect(() => {
    scroll.current = scrollTo;
  });
  useEffect(() => {
    if (isFollowing && count > 0) scroll.current(count - 1, 'end');
  }, [isFollowing, count]);
  useEffect(() => {
    if (chosen !== undefined) scroll.current(chosen, 'center');
  }, [chosen]);
  useEffect(() => {
    if (current !== undefined) scroll.current(current, 'center');
  }, [current]);
}

function Line({
  log,
  times,
  start,
  search,
  searched,
  onChooseLine,
  index,
}: LogLinesProps & { index: number }) {
  const line = log.getLine(index);
  const visible = line.slice(0, LINE_CHARS_MAX);
  return (
    <>
      {/* The field "Line" does the same by the keyboard; sixty more stops of the Tab key would be in the way. */}
      <button
        type="button"
        tabIndex={-1}
        className={styles.number}
        title={`Choose line ${index + 1}`}
        aria-label={`Choose line ${index + 1}`}
        onClick={() => onChooseLine(index + 1)}
      >
        {index + 1}
      </button>
      {search.times !== 'none' && !times.isEmpty && (
        <LineTime at={times.find(index)} start={start} isClock={search.times === 'clock'} />
      )}
      <bdi className={styles.text}>
        <MarkedText text={visible} searched={searched} />
        {visible.length < line.length && ` … (${formatNumber(line.length)} characters)`}
      </bdi>
    </>
  );
}

interface LineTimeProps {
  at: number | undefined;
  start: number | undefined;
  isClock: boolean;
}

function LineTime({ at, start, isClock }: LineTimeProps): ReactNode {
  if (at === undefined) return <span className={styles.time} />;
  return (
    <time className={styles.time} dateTime={new Date(at).toISOString()} title={formatExactTime(at)}>
      {isClock ? formatClockTime(at) : formatSinceStart(at, start ?? at)}
    </time>
  );
}
