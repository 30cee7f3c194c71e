/** The columns of the list of applications. */
import type { Application } from '@switchyard/contract/applications/applications.ts';
import { formatNumber, formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ApplicationSummary } from '@switchyard/contract/runs/run-counts.ts';
import { Icon } from '@switchyard/design/icon.tsx';
import { Link } from '@tanstack/react-router';
import { readMeaning } from '../../client/indicator-meaning.ts';
import { formatJudged } from '../../client/judged-values.ts';
import { countFailures, summarizeObjective, TRACK_RUNS } from '../../client/recent-runs.ts';
import { LinkButton } from '../../ui/button.tsx';
import { RunTrack } from '../../ui/charts/run-track.tsx';
import { Sparkline } from '../../ui/charts/sparkline.tsx';
import type { DataColumn } from '../../ui/data-table/data-table.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { SubscriptionBadge } from '../../ui/subscriptions/subscription-badge.tsx';
import { isSubscription } from '../../ui/subscriptions/subscription-notice.tsx';
import { useRight } from '../../ui/use-right.ts';
import styles from './applications-page.module.css';

interface CellProps {
  application: Application;
  /** undefined while it loads. */
  summary: ApplicationSummary | undefined;
}

/** Returns the columns of the list. A summary arrives after its row. */
export function buildApplicationColumns(
  summaries: ReadonlyMap<string, ApplicationSummary>,
): DataColumn<Application>[] {
  const describe = (application: Application) => ({ application, summary: summaries.get(application.id) });
  return [
    {
      title: 'Application',
      cell: (one) => <Name {...describe(one)} />,
      hover: ({ name, id }) => `${name} (${id})`,
    },
    { title: 'Default', onPhone: 'hidden', cell: (one) => <DefaultInstance {...describe(one)} /> },
    { title: `Last ${TRACK_RUNS} runs`, onPhone: 'plain', cell: (one) => <Track {...describe(one)} /> },
    { title: 'Failed', kind: 'number', cell: (one) => <Failed {...describe(one)} /> },
    {
      title: 'Objective',
      kind: 'number',
      onPhone: 'beside',
      cell: (one) => <Objective {...describe(one)} />,
    },
    { title: 'Trend', onPhone: 'hidden', cell: (one) => <Trend {...describe(one)} /> },
    { title: 'Last run', kind: 'number', onPhone: 'end', cell: (one) => <LastRun {...describe(one)} /> },
  ];
}

function Name({ application, summary }: CellProps) {
  const { id, name } = application;
  const { tone } = countFailures(summary?.runs ?? []);
  return (
    <span className={styles.name}>
      <Link to="/apps/$application" params={{ application: id }}>
        <bdi>{name}</bdi>
      </Link>
      {tone && (
        <span className={tone}>
          <Icon name={tone} />
        </span>
      )}
      {isSubscription(application) && <SubscriptionBadge subscription={application.subscription_id} />}
    </span>
  );
}

/** The instance and version of a run without an instance id, whatever has run last. */
function DefaultInstance({ application, summary }: CellProps) {
  const { default_instance, active_executable } = application;
  const hasInstance = default_instance !== '' && default_instance !== 'latest';
  if (!hasInstance && !active_executable) return <span className="soft">no app yet</span>;
  return (
    <>
      <bdi>{hasInstance ? default_instance : 'latest'}</bdi>{' '}
      <span className="soft">
        <bdi>{summary?.version_id}</bdi>
        {summary?.version_deleted && ' (deleted)'}
      </span>
    </>
  );
}

function Track({ summary }: CellProps) {
  const runs = summary?.runs;
  return (
    <span className={styles.track}>
      {runs && runs.length > 0 ? (
        <RunTrack runs={runs} places={TRACK_RUNS} />
      ) : (
        runs && <span className="soft">no run yet</span>
      )}
    </span>
  );
}

function Failed({ summary }: CellProps) {
  const { failed, counted, tone } = countFailures(summary?.runs ?? []);
  if (counted === 0) return null;
  const plain = failed === 0 ? 'soft' : undefined;
  return <span className={tone ? `${tone} ${styles.rate}` : plain}>{formatPercent(failed / counted)}</span>;
}

function Objective({ application, summary }: CellProps) {
  const { objective } = readMeaning(application);
  const { last } = summarizeObjective(summary?.runs ?? [], objective);
  if (last === undefined) return null;
  return <span title={formatNumber(last)}>{formatJudged(last, objective.unit)}</span>;
}

function Trend({ application, summary }: CellProps) {
  const { trend } = summarizeObjective(summary?.runs ?? [], readMeaning(application).objective);
  return <span className={styles.trend}>{trend && <Sparkline {...trend} />}</span>;
}

function LastRun({ application: { id, active_executable }, summary }: CellProps) {
  const mayRun = useRight('run');
  const [newest] = summary?.runs ?? [];
  if (newest)
    return (
      <RunLink application={id} run={newest.id} className={styles.last}>
        <RelativeTime at={newest.created_at} />
      </RunLink>
    );
  if (!summary || !mayRun || active_executable === null) return null;
  return (
    <LinkButton to="/apps/$application/new-run" params={{ application: id }}>
      First run
    </LinkButton>
  );
}
