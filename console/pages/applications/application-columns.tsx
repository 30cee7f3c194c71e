/** The columns of the list of applications. A row asks for its runs once it is visible, so a long list costs a screen of it. */
import type { Application } from '@switchyard/contract/applications/applications.ts';
import { formatNumber, formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import { Icon } from '@switchyard/design/icon.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { instanceQuery } from '../../client/applications.ts';
import { describeError } from '../../client/client.ts';
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
import { recentRunsQuery } from './queries.ts';

/** The applications of which a row has been on the screen. */
interface Seen {
  ids: ReadonlySet<string>;
  add: (id: string) => void;
}

/** Returns the columns of the list. */
export function buildApplicationColumns(seen: Seen): DataColumn<Application>[] {
  const describe = (application: Application) => ({ application, isSeen: seen.ids.has(application.id) });
  return [
    {
      title: 'Application',
      cell: (one) => <Name {...describe(one)} onSeen={seen.add} />,
      hover: ({ name, id }) => `${name} (${id})`,
    },
    { title: 'Default', onPhone: 'plain', cell: (one) => <DefaultInstance {...describe(one)} /> },
    {
      title: `Last ${TRACK_RUNS} runs`,
      onPhone: 'hidden',
      cell: (one) => <Track {...describe(one)} />,
    },
    { title: 'Failed', kind: 'number', cell: (one) => <Failed {...describe(one)} /> },
    { title: 'Objective', kind: 'number', onPhone: 'plain', cell: (one) => <Objective {...describe(one)} /> },
    { title: 'Trend', onPhone: 'hidden', cell: (one) => <Trend {...describe(one)} /> },
    { title: 'Last run', kind: 'number', onPhone: 'end', cell: (one) => <LastRun {...describe(one)} /> },
  ];
}

interface CellProps {
  application: Application;
  isSeen: boolean;
}

/** Returns the latest runs, newest first; undefined while they load. */
function useRuns({ application, isSeen }: CellProps) {
  const { data } = useQuery({ ...recentRunsQuery(application.id), enabled: isSeen });
  return data?.runs;
}

function Name({ onSeen, ...props }: CellProps & { onSeen: (id: string) => void }) {
  const { application, isSeen } = props;
  const { id, name } = application;
  const element = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (isSeen || !element.current) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) onSeen(id);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [isSeen, id, onSeen]);
  const { tone } = countFailures(useRuns(props) ?? []);
  return (
    <span ref={element} className={styles.name}>
      <Link to="/apps/$application" params={{ application: id }}>
        <bdi>{name}</bdi>
      </Link>
      {tone && (
        <span className={styles[tone]}>
          <Icon name="warning" />
        </span>
      )}
      {isSeen && isSubscription(application) && (
        <SubscriptionBadge subscription={application.subscription_id} />
      )}
    </span>
  );
}

/** The instance and version of a run without an instance id, whatever has run last. */
function DefaultInstance({ application, isSeen }: CellProps) {
  const { id, default_instance, active_executable } = application;
  const hasInstance = default_instance !== '' && default_instance !== 'latest';
  const { data, error } = useQuery({
    ...instanceQuery(id, default_instance),
    enabled: isSeen && hasInstance,
  });
  if (!hasInstance && !active_executable) return <span className="soft">no app yet</span>;
  return (
    <>
      <bdi>{hasInstance ? default_instance : 'latest'}</bdi>{' '}
      <span className="soft">
        {data && (
          <>
            <bdi>{data.version_id}</bdi>
            {data.version_deleted && ' (deleted)'}
          </>
        )}
        {error && describeError(error)}
      </span>
    </>
  );
}

function Track(props: CellProps) {
  const runs = useRuns(props);
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

function Failed(props: CellProps) {
  const { failed, counted, tone } = countFailures(useRuns(props) ?? []);
  if (counted === 0) return null;
  return <span className={tone ? styles[tone] : 'soft'}>{formatPercent(failed / counted)}</span>;
}

function Objective(props: CellProps) {
  const { objective } = readMeaning(props.application);
  const { last } = summarizeObjective(useRuns(props) ?? [], objective);
  if (last === undefined) return null;
  return <span title={formatNumber(last)}>{formatJudged(last, objective.unit)}</span>;
}

function Trend(props: CellProps) {
  const { trend } = summarizeObjective(useRuns(props) ?? [], readMeaning(props.application).objective);
  return <span className={styles.trend}>{trend && <Sparkline {...trend} />}</span>;
}

function LastRun(props: CellProps) {
  const { id, active_executable } = props.application;
  const runs = useRuns(props);
  const mayRun = useRight('run');
  const [newest] = runs ?? [];
  if (newest)
    return (
      <RunLink application={id} run={newest.id} className={styles.last}>
        <RelativeTime at={newest.created_at} />
      </RunLink>
    );
  if (!runs || !mayRun || active_executable === null) return null;
  return (
    <LinkButton to="/apps/$application/new-run" params={{ application: id }}>
      First run
    </LinkButton>
  );
}
