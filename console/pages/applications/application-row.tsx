import type { Application } from '@switchyard/contract/applications/applications.ts';
import { formatNumber, formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import { Icon } from '@switchyard/design/icon.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { instanceQuery } from '../../client/applications.ts';
import { describeError } from '../../client/client.ts';
import { readMeaning } from '../../client/indicator-meaning.ts';
import { formatJudged } from '../../client/judged-values.ts';
import { countFailures, type ListedRun, summarizeObjective, TRACK_RUNS } from '../../client/recent-runs.ts';
import { LinkButton } from '../../ui/button.tsx';
import { RunTrack } from '../../ui/charts/run-track.tsx';
import { Sparkline } from '../../ui/charts/sparkline.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { SubscriptionBadge } from '../../ui/subscriptions/subscription-badge.tsx';
import { isSubscription } from '../../ui/subscriptions/subscription-notice.tsx';
import table from '../../ui/table.module.css';
import { useRight } from '../../ui/use-right.ts';
import styles from './applications-page.module.css';
import { recentRunsQuery } from './queries.ts';

/** One application. It asks for its runs once it is visible, so a long list costs no more than a screen of it. */
export function ApplicationRow({ application }: { application: Application }) {
  const row = useRef<HTMLTableRowElement>(null);
  const isSeen = useIsSeen(row);
  const { id, name } = application;
  const { data } = useQuery({ ...recentRunsQuery(id), enabled: isSeen });
  const { tone } = countFailures(data?.runs ?? []);
  return (
    <tr ref={row}>
      <td className={styles.name}>
        <span>
          <Link to="/apps/$application" params={{ application: id }} title={`${name} (${id})`}>
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
      </td>
      <DefaultInstance application={application} isSeen={isSeen} />
      <RunCells application={application} runs={data?.runs} />
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

interface RunCellsProps {
  application: Application;
  /** Newest first; undefined while they load. */
  runs: readonly ListedRun[] | undefined;
}

function RunCells({ application, runs: loaded }: RunCellsProps) {
  const runs = loaded ?? [];
  const { failed, counted, tone } = countFailures(runs);
  const { objective } = readMeaning(application);
  const { last, trend } = summarizeObjective(runs, objective);
  const [newest] = runs;
  return (
    <>
      <td className={styles.wide}>
        {newest ? (
          <RunTrack runs={runs} places={TRACK_RUNS} />
        ) : (
          loaded && <span className="soft">no run yet</span>
        )}
      </td>
      <td className={`${table.number} ${styles.failed} ${tone ? styles[tone] : 'soft'}`}>
        {counted > 0 && formatPercent(failed / counted)}
      </td>
      <td className={table.number} title={last === undefined ? undefined : formatNumber(last)}>
        {last !== undefined && formatJudged(last, objective.unit)}
      </td>
      <td className={`${styles.wide} ${styles.trend}`}>{trend && <Sparkline {...trend} />}</td>
      <td className={`${table.number} soft`}>
        {newest ? (
          <RunLink application={application.id} run={newest.id}>
            <RelativeTime at={newest.created_at} />
          </RunLink>
        ) : (
          <FirstRun application={application} />
        )}
      </td>
    </>
  );
}

function FirstRun({ application: { id, active_executable } }: { application: Application }) {
  if (!useRight('run') || active_executable === null) return null;
  return (
    <LinkButton to="/apps/$application/new-run" params={{ application: id }}>
      First run
    </LinkButton>
  );
}

/** The instance and version of a run without an instance id, whatever has run last. */
function DefaultInstance({ application, isSeen }: { application: Application; isSeen: boolean }) {
  const { id, default_instance, active_executable } = application;
  const hasInstance = default_instance !== '' && default_instance !== 'latest';
  const { data, error } = useQuery({
    ...instanceQuery(id, default_instance),
    enabled: isSeen && hasInstance,
  });
  if (!hasInstance && !active_executable) return <td className="soft">no app yet</td>;
  return (
    <td className={styles.default}>
      <bdi>{hasInstance ? default_instance : 'latest'}</bdi>{' '}
      <small>
        {data && (
          <>
            <bdi>{data.version_id}</bdi>
            {data.version_deleted && ' (deleted)'}
          </>
        )}
        {error && describeError(error)}
      </small>
    </td>
  );
}
