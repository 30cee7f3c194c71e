import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../../client/queries.ts';
import { cleanLogLine, splitLog } from '../../../ui/log/clean-log-line.ts';
import { getRunParams, type RunAddress } from '../queries.ts';
import styles from './summary-tab.module.css';

const LAST_LINES = 20;

/** The last lines of the log of a failed or canceled run. Nothing for other runs. */
export function LogEnd({ address, run }: { address: RunAddress; run: RunInformation }) {
  const isBad = run.status_v2 === 'failed' || run.status_v2 === 'canceled';
  const { data } = useQuery({
    ...operationQuery('getRunOutput', { params: getRunParams(address) }),
    enabled: isBad,
  });
  if (!isBad) return null;
  const lines = splitLog(data?.error_log?.stderr ?? '')
    .slice(-LAST_LINES)
    .map(cleanLogLine);
  if (lines.length === 0) return null;
  return (
    <section aria-labelledby="log-end" className={styles.section}>
      <h2 id="log-end">End of the log</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reachable by keyboard */}
      <pre className={styles.lines} tabIndex={0}>
        {lines.join('\n')}
      </pre>
    </section>
  );
}
