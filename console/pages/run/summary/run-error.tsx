import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { operationQuery } from '../../../client/queries.ts';
import { cleanLogLine, splitLog } from '../../../ui/log/clean-log-line.ts';
import { Notice } from '../../../ui/notice.tsx';
import { getRunParams, type RunAddress } from '../queries.ts';
import styles from './summary-tab.module.css';

const LAST_LINES = 20;

/** The error of a failed or canceled run, with the last lines of its log. Nothing for other runs. */
export function RunError({ address, run }: { address: RunAddress; run: RunInformation }) {
  const isBad = run.status_v2 === 'failed' || run.status_v2 === 'canceled';
  const { data } = useQuery({
    ...operationQuery('getRunOutput', { params: getRunParams(address) }),
    enabled: isBad,
  });
  if (!isBad) return null;
  const lines = splitLog(data?.error_log?.stderr ?? '')
    .slice(-LAST_LINES)
    .map(cleanLogLine);
  const reason = run.error || (run.status_v2 === 'failed' ? 'The run failed.' : 'The run was canceled.');
  return (
    <div className={styles.section}>
      <Notice kind={run.status_v2 === 'failed' ? 'error' : 'warning'}>
        <bdi>{reason}</bdi>
      </Notice>
      {lines.length > 0 && (
        <section aria-label="Last lines of the log" className={styles.section}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reachable by keyboard */}
          <pre className={styles.lines} tabIndex={0}>
            {lines.join('\n')}
          </pre>
          <p>
            <Link to="/apps/$application/runs/$run" params={address} search={{ tab: 'log' }}>
              Open the log
            </Link>
          </p>
        </section>
      )}
    </div>
  );
}
