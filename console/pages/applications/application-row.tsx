import type { Application } from '@switchyard/contract/applications/applications.ts';
import { formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { instanceQuery } from '../../client/applications.ts';
import { describeError } from '../../client/client.ts';
import { Sparkline } from '../../ui/charts/sparkline.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { SubscriptionBadge } from '../../ui/subscriptions/subscription-badge.tsx';
import { isSubscription } from '../../ui/subscriptions/subscription-notice.tsx';
import table from '../../ui/table.module.css';
import styles from './applications-page.module.css';
import { recentRunsQuery } from './queries.ts';
import {
  buildDurationTrend,
  buildObjectiveTrend,
  computeFailureRate,
  type ListedRun,
} from './recent-runs.ts';

/** One application. It asks for its runs once it is visible, so a long list costs no more than a screen of it. */
export function ApplicationRow({ application }: { application: Application }) {
  const row = useRef<HTMLTableRowElement>(null);
  const isSeen = useIsSeen(row);
  const { data } = useQuery({ ...recentRunsQuery(application.id), enabled: isSeen });
  return (
    <tr ref={row}>
      <td>
        <Link to="/apps/$application" params={{ application: application.id }} className={styles.name}>
          {application.name}
        </Link>
        <code className="soft">{application.id}</code>{' '}
        {isSeen && isSubscription(application) && (
          <SubscriptionBadge subscription={application.subscription_id} />
        )}
      </td>
      <LastRun run={data?.runs[0]} isLoaded={data !== undefined} application={application.id} />
      <RunTrends runs={data?.runs ?? []} />
      <ActiveVersion application={application} isSeen={isSeen} />
    </tr>
  );
}

/** Returns true once the element has been on the screen. */
function useIsSeen(element: React.RefObject<Element | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (isSeen || !element.current) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [isSeen, element]);
  return isSeen;
}

function LastRun({
  run,
  isLoaded,
  application,
}: {
  run: ListedRun | undefined;
  isLoaded: boolean;
  application: string;
}) {
  if (!run) return <td className={styles.soft}>{isLoaded ? 'No production run yet' : ''}</td>;
  return (
    <td>
      <RunLink application={application} run={run.id} className={styles.last}>
        <StatusBadge status={run.status_v2} />
        <span className={styles.soft}>
          <RelativeTime at={run.created_at} />
        </span>
      </RunLink>
    </td>
  );
}

function RunTrends({ runs }: { runs: readonly ListedRun[] }) {
  const objective = buildObjectiveTrend(runs);
  const duration = buildDurationTrend(runs);
  const rate = computeFailureRate(runs);
  return (
    <>
      <td>{objective && <Sparkline {...objective} />}</td>
      <td>{duration && <Sparkline {...duration} />}</td>
      <td className={`${table.number} ${rate ? styles.failing : styles.soft}`}>
        {rate !== undefined && formatPercent(rate)}
      </td>
    </>
  );
}

/** The version that a run without an instance id gets: that of the default instance, whatever has run last. */
function ActiveVersion({ application, isSeen }: { application: Application; isSeen: boolean }) {
  const { id, default_instance, active_executable } = application;
  const hasInstance = default_instance !== '' && default_instance !== 'latest';
  const { data, error } = useQuery({
    ...instanceQuery(id, default_instance),
    enabled: isSeen && hasInstance,
  });
  if (hasInstance)
    return (
      <td className={styles.version}>
        {default_instance}{' '}
        <span className={styles.soft}>
          {data && `· ${data.version_id}${data.version_deleted ? ' (deleted)' : ''}`}
          {error && `· ${describeError(error)}`}
        </span>
      </td>
    );
  if (!active_executable) return <td className={styles.soft}>No executable yet</td>;
  return (
    <td className={styles.version}>
      latest{' '}
      <span className={styles.soft}>
        · <RelativeTime at={active_executable.uploaded_at} />
      </span>
    </td>
  );
}
