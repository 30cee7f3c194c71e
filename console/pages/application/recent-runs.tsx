import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useMeaning } from '../../client/indicator-meaning.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { NoRunYet } from '../../ui/resources/no-run-yet.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import table from '../../ui/table.module.css';
import styles from './application-page.module.css';
import { recentRunsQuery } from './queries.ts';

const VISIBLE_RUNS = 10;

/** The latest runs of the application, with a link to all of them. */
export function RecentRuns({ application }: { application: string }) {
  const { data } = useSuspenseQuery(recentRunsQuery(application));
  const { objective: judged } = useMeaning(application);
  if (data.runs.length === 0) return <NoRunYet application={application} />;
  return (
    <section aria-labelledby="recent-runs">
      <h2 id="recent-runs">Recent runs</h2>
      <TableRegion label="List of recent runs">
        <table className={table.table}>
          <thead>
            <tr>
              <th>Status</th>
              <th>Run</th>
              <th>Instance</th>
              <th>Version</th>
              <th className={table.number}>{judged.label}</th>
              <th>Created</th>
            </tr>
          </thead>
          <tbody>
            {data.runs.slice(0, VISIBLE_RUNS).map((run) => {
              const objective = run.statistics.indicators.find(({ name }) => name === judged.name)?.value;
              return (
                <tr key={run.id}>
                  <td>
                    <StatusBadge status={run.status_v2} />
                  </td>
                  <td className={styles.run}>
                    <RunLink application={application} run={run.id}>
                      {run.name || run.id}
                    </RunLink>
                  </td>
                  <td>{run.application_instance_id}</td>
                  <td>{run.application_version_id || '–'}</td>
                  <td className={table.number}>
                    {typeof objective === 'number' ? formatNumber(objective) : String(objective ?? '–')}
                  </td>
                  <td>
                    <RelativeTime at={run.created_at} />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </TableRegion>
    </section>
  );
}
