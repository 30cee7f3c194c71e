import type { ReplayComparison, RunReplay } from '@switchyard/contract/runs/replays.ts';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { RunLink } from '../../../ui/run-link.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import table from '../../../ui/table.module.css';
import { type RunAddress, replaysQuery } from '../queries.ts';
import styles from './summary-tab.module.css';

const AGREEMENTS: Record<ReplayComparison['verdict'], string> = {
  bytes_equal: 'Same output, byte by byte',
  same_solution: 'Same solution',
  same_objective: 'Same objective',
  same_failure: 'Same failure',
  different: 'Different',
};

/** The replays of an ended run, newest first, each with its comparison. Nothing without a replay. */
export function ReplayList({ address, status }: { address: RunAddress; status: RunStatusV2 }) {
  const headingId = useId();
  const { data } = useQuery({ ...replaysQuery(address), enabled: isTerminal(status) });
  if (!data || data.items.length === 0) return null;
  return (
    <section className={styles.section} aria-labelledby={headingId}>
      <h2 id={headingId}>Replays</h2>
      <ul className={styles.replays}>
        {data.items.map((replay) => (
          <ReplayItem key={replay.run_id} application={address.application} replay={replay} />
        ))}
      </ul>
    </section>
  );
}

function ReplayItem({ application, replay }: { application: string; replay: RunReplay }) {
  const { comparison } = replay;
  return (
    <li>
      <div className={styles.replayHead}>
        <strong>{comparison ? AGREEMENTS[comparison.verdict] : 'Compared when it has ended'}</strong>
        <StatusBadge status={replay.status_v2} />
        <RunLink application={application} run={replay.run_id}>
          {replay.run_id}
        </RunLink>
        <RelativeTime at={replay.created_at} />
      </div>
      {comparison && <p>{comparison.reason}</p>}
      {comparison && comparison.differences.length > 0 && <Differences comparison={comparison} />}
      {comparison && comparison.may_differ.length > 0 && (
        <details>
          <summary>Why two executions can differ</summary>
          <ul>
            {comparison.may_differ.map(({ cause, description }) => (
              <li key={cause}>{description}</li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

function Differences({ comparison }: { comparison: ReplayComparison }) {
  return (
    <details>
      <summary>
        {comparison.number_of_differences === 1
          ? '1 difference'
          : `${comparison.number_of_differences} differences`}
      </summary>
      <div className={table.scroll}>
        <table className={table.table}>
          <TableHead texts={['Place', 'Original', 'Replay']} />
          <tbody>
            {comparison.differences.map(({ path, original, replay }) => (
              <tr key={path}>
                <td className="anywhere">
                  <code>{path}</code>
                </td>
                <td className="anywhere">
                  <bdi>{original ?? 'none'}</bdi>
                </td>
                <td className="anywhere">
                  <bdi>{replay ?? 'none'}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
