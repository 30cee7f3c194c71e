import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMeaning } from '../../client/indicator-meaning.ts';
import { formatJudged, readIndicator } from '../../client/judged-values.ts';
import { RunTrack } from '../../ui/charts/run-track.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import table from '../../ui/table.module.css';
import styles from './application-page.module.css';
import { recentRunsQuery } from './queries.ts';

const VISIBLE_RUNS = 6;
const TRACK_RUNS = 20;

/** The latest production runs of the application, with a link to all runs. */
export function RecentRuns({ application }: { application: string }) {
  const { data } = useSuspenseQuery(recentRunsQuery(application));
  const { objective } = useMeaning(application);
  return (
    <section aria-labelledby="recent-runs">
      <div className={styles.heading}>
        <h2 id="recent-runs">Latest runs</h2>
        <RunTrack runs={data.runs.slice(0, TRACK_RUNS)} places={TRACK_RUNS} />
      </div>
      <TableRegion label="List of recent runs">
        <table className={`${table.table} ${styles.runs}`}>
          <thead>
            <tr>
              <th>Run</th>
              <th>Status</th>
              <th>Instance</th>
              <th>Version</th>
              <th className={table.number}>{objective.label}</th>
              <th className={table.number}>Created</th>
            </tr>
          </thead>
          <tbody>
            {data.runs.slice(0, VISIBLE_RUNS).map((run) => {
              const value = readIndicator(run, objective.name);
              return (
                <tr key={run.id}>
                  <td className={styles.name}>
                    <RunLink application={application} run={run.id} title={run.name || run.id}>
                      <bdi>{run.name || run.id}</bdi>
                    </RunLink>
                  </td>
                  <td>
                    <StatusBadge status={run.status_v2} />
                  </td>
                  <td>
                    <bdi>{run.application_instance_id}</bdi>
                  </td>
                  <td>
                    <bdi>{run.application_version_id || '–'}</bdi>
                  </td>
                  <td className={table.number} title={value === undefined ? undefined : formatNumber(value)}>
                    {value === undefined ? '–' : formatJudged(value, objective.unit)}
                  </td>
                  <td className={`${table.number} soft`}>
                    <RelativeTime at={run.created_at} />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </TableRegion>
      <p>
        <Link to="/apps/$application/runs" params={{ application }}>
          All runs
        </Link>
      </p>
    </section>
  );
}
