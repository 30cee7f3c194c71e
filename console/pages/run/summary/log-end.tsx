import { readLogLevel } from '@switchyard/contract/runs/logs/log-levels.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { Link } from '@tanstack/react-router';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { findFirstStart, formatSinceStart } from '../log/log-times.ts';
import { type KnownLines, type LogLine, useKnownLines } from '../log/use-known-lines.ts';
import type { RunAddress } from '../queries.ts';
import styles from './log-end.module.css';

const LINES_MAX = 12;

/** The last lines of the log of an ended run. Nothing without a line. */
export function LogEnd({ address, run }: { address: RunAddress; run: RunInformation }) {
  const { title, lines } = selectLines(useKnownLines(run));
  if (lines.length === 0) return null;
  const start = findFirstStart(run) ?? lines[0]?.at ?? 0;
  return (
    <section className={styles.section} aria-labelledby="log-end">
      <div className={styles.head}>
        <h2 id="log-end">{title}</h2>
        <span className={styles.actions}>
          <CopyButton text={lines.map(({ text }) => text).join('\n')} label="Copy these lines" />
          <Link to="/apps/$application/runs/$run" params={address} search={{ tab: 'log' }}>
            Open the log
          </Link>
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reachable by keyboard */}
      <section className={styles.lines} tabIndex={0} aria-label={`${title}: lines`}>
        {lines.map(({ text, at }, index) => (
          <div key={index} data-level={readLogLevel(text)}>
            {at !== undefined && <time>{formatSinceStart(at, start)}</time>}
            <bdi>{text}</bdi>
          </div>
        ))}
      </section>
    </section>
  );
}

/** Returns the lines to show: the last ones, or the first ones of a long log of a run that succeeded. */
function selectLines({ lines, isLong, isEnd }: KnownLines): { title: string; lines: readonly LogLine[] } {
  const isFirst = isLong && !isEnd;
  return {
    title: isFirst ? 'Log, first lines' : 'End of the log',
    lines: isFirst ? lines.slice(0, LINES_MAX) : lines.slice(-LINES_MAX),
  };
}
