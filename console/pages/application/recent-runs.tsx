import { formatDuration, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type JudgedIndicator, useMeaning } from '../../client/indicator-meaning.ts';
import { formatJudged, readIndicator } from '../../client/judged-values.ts';
import { RunTrack } from '../../ui/charts/run-track.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table/data-table.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
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
      <DataTable
        label="List of recent runs"
        rows={data.runs.slice(0, VISIBLE_RUNS)}
        columns={buildColumns(objective)}
      />
      <p>
        <Link to="/apps/$application/runs" params={{ application }}>
          All runs
        </Link>
      </p>
    </section>
  );
}

function buildColumns(objective: JudgedIndicator): DataColumn<Run>[] {
  return [
    {
      title: 'Run',
      cell: ({ application_id, id, name }) => (
        <RunLink application={application_id} run={id}>
          <bdi>{name || id}</bdi>
        </RunLink>
      ),
      hover: ({ name, id }) => name || id,
    },
    { title: 'Status', onPhone: 'plain', cell: ({ status_v2 }) => <StatusBadge status={status_v2} /> },
    {
      title: 'Instance',
      onPhone: 'hidden',
      cell: ({ application_instance_id: instance, application_version_id: version }) => (
        <>
          <bdi>{instance}</bdi>{' '}
          <span className="soft">
            <bdi>{version}</bdi>
          </span>
        </>
      ),
    },
    {
      title: 'Run time',
      kind: 'number',
      onPhone: 'hidden',
      cell: ({ execution_duration: ms }) => (ms === undefined ? '–' : formatDuration(ms)),
    },
    {
      title: objective.label,
      kind: 'number',
      onPhone: 'beside',
      cell: (run) => {
        const value = readIndicator(run, objective.name);
        return value === undefined ? '–' : formatJudged(value, objective.unit);
      },
      hover: (run) => {
        const value = readIndicator(run, objective.name);
        return value === undefined ? undefined : formatNumber(value);
      },
    },
    {
      title: 'Created',
      kind: 'number',
      onPhone: 'end',
      cell: ({ created_at }) => <RelativeTime at={created_at} />,
    },
  ];
}
