import { LIVE_LOG_LINES_PER_PAGE } from '@switchyard/contract/limits.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { operationQuery } from '../../../client/queries.ts';
import { cleanLogLine } from '../../../ui/log/clean-log-line.ts';
import { getRunParams, type RunAddress } from '../queries.ts';
import styles from './summary-tab.module.css';

const LINES_MAX = 12;

/** The last lines of the log of a run that succeeded, or the first ones of a long log. */
export function LogExcerpt({ address, run }: { address: RunAddress; run: RunInformation }) {
  const headingId = useId();
  const { data } = useQuery({
    // The whole log of a run may have 50 MB. A page of the live log is enough here.
    ...operationQuery('getRunLiveLogs', { params: getRunParams(address), query: {} }),
    enabled: run.status_v2 === 'succeeded',
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!data || data.items.length === 0) return null;
  const isWhole = data.items.length < LIVE_LOG_LINES_PER_PAGE;
  const items = isWhole ? data.items.slice(-LINES_MAX) : data.items.slice(0, LINES_MAX);
  return (
    <section className={styles.section} aria-labelledby={headingId}>
      <h2 id={headingId}>{isWhole ? 'Log' : 'Log, first lines'}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reachable by keyboard */}
      <pre className={styles.lines} tabIndex={0}>
        {items.map(({ log }) => cleanLogLine(log)).join('\n')}
      </pre>
      <p>
        <Link to="/apps/$application/runs/$run" params={address} search={{ tab: 'log' }}>
          {items.length < data.items.length ? 'Open the whole log' : 'Open the log'}
        </Link>
      </p>
    </section>
  );
}
