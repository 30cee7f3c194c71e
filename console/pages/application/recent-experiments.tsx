import { EXPERIMENTS } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { VerdictBadge } from '../../ui/experiments/verdict-badge.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { experimentsQuery } from '../experiments/queries.ts';
import styles from './application-page.module.css';

const VISIBLE_EXPERIMENTS = 5;

/** The latest experiments with their verdicts. */
export function RecentExperiments({ application }: { application: string }) {
  const { data } = useInfiniteQuery(experimentsQuery(application));
  const experiments = data?.pages[0]?.items.slice(0, VISIBLE_EXPERIMENTS) ?? [];
  return (
    <section aria-labelledby="experiments">
      <div className={styles.heading}>
        <h2 id="experiments">Experiments</h2>
      </div>
      {data && experiments.length === 0 && (
        <p className="soft">
          No experiment yet. One says whether a change is better.{' '}
          <Link to="/apps/$application/new-experiment" params={{ application }}>
            Start the first one
          </Link>
        </p>
      )}
      <ul className={styles.experiments}>
        {experiments.map(({ type, id, name, status, created_at, verdict }) => (
          <li key={`${type} ${id}`}>
            <Link
              to="/apps/$application/experiments/$type/$id"
              params={{ application, type, id }}
              title={name}
            >
              <bdi>{name}</bdi>
            </Link>
            <p>
              {verdict ? <VerdictBadge verdict={verdict.word} /> : <StatusBadge status={status} />}{' '}
              {EXPERIMENTS[type].label}, <RelativeTime at={created_at} />
            </p>
          </li>
        ))}
      </ul>
      {experiments.length > 0 && (
        <p>
          <Link to="/apps/$application/experiments" params={{ application }}>
            All experiments
          </Link>
        </p>
      )}
    </section>
  );
}
