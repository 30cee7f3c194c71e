import { readLogLevel } from '@switchyard/contract/runs/logs/log-levels.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { operationQuery } from '../../../client/queries.ts';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { cleanLogLine, splitLog } from '../../../ui/log/clean-log-line.ts';
import { firstLinesQuery } from '../log/first-lines-query.ts';
import { formatSinceStart } from '../log/log-times.ts';
import { getRunParams, type RunAddress } from '../queries.ts';
import styles from './log-end.module.css';

const LINES_MAX = 12;

interface Line {
  text: string;
  /** Milliseconds since the epoch; undefined where the end of a log comes without times. */
  at: number | undefined;
}

/** The last lines of the log of an ended run. Nothing without a line. */
export function LogEnd({ address, run }: { address: RunAddress; run: RunInformation }) {
  const { title, lines } = useLogEnd(address, run);
  if (lines.length === 0) return null;
  const start = Date.parse(run.metadata.initiated_at ?? '') || lines[0]?.at || 0;
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

/** Returns the last lines of the log, or the first ones of a long log of a run that succeeded. */
function useLogEnd(address: RunAddress, run: RunInformation): { title: string; lines: Line[] } {
  const isBad = run.status_v2 === 'failed' || run.status_v2 === 'canceled';
  // The whole log of a run may have 50 MB.
  const { data } = useQuery({ ...firstLinesQuery(address), enabled: isTerminal(run.status_v2) });
  const isLong = data?.next_page_token !== undefined;
  const { data: failed } = useQuery({
    ...operationQuery('getRunOutput', { params: getRunParams(address) }),
    enabled: isBad && isLong,
  });
  const items = data?.items ?? [];
  if (isBad && isLong) {
    const ending = splitLog(failed?.error_log?.stderr ?? '').slice(-LINES_MAX);
    return {
      title: 'End of the log',
      lines: ending.map((text) => ({ text: cleanLogLine(text), at: undefined })),
    };
  }
  const shown = isLong ? items.slice(0, LINES_MAX) : items.slice(-LINES_MAX);
  return {
    title: isLong ? 'Log, first lines' : 'End of the log',
    lines: shown.map(({ log, timestamp }) => ({
      text: cleanLogLine(log),
      at: timestamp === undefined ? undefined : Date.parse(timestamp),
    })),
  };
}
