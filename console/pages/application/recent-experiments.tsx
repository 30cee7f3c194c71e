import { EXPERIMENTS } from '@switchyard/contract/experiment-types/experiment-types.ts';
import {
  type ListedExperiment,
  mergeExperiments,
} from '@switchyard/contract/experiments/presentation/list-experiments.ts';
import { Icon, type IconName } from '@switchyard/design/icon.tsx';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { findTone } from '../../ui/experiments/verdict-badge.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { experimentsQuery, useVerdicts } from '../experiments/queries.ts';
import styles from './application-page.module.css';

const VISIBLE_EXPERIMENTS = 5;
const ICONS: Readonly<Record<string, IconName>> = {
  good: 'good',
  bad: 'bad',
  equal: 'equal',
  open: 'waiting',
};

/** The latest experiments with their verdicts. */
export function RecentExperiments({ application }: { application: string }) {
  const { data } = useInfiniteQuery(experimentsQuery(application, undefined));
  const experiments = data ? mergeExperiments(data.pages, undefined).slice(0, VISIBLE_EXPERIMENTS) : [];
  const verdicts = useVerdicts(application, experiments);
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
        {experiments.map((experiment, index) => (
          <ExperimentLine
            key={`${experiment.type} ${experiment.id}`}
            application={application}
            experiment={experiment}
            verdict={verdicts[index]?.word}
          />
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

interface ExperimentLineProps {
  application: string;
  experiment: ListedExperiment;
  verdict: string | undefined;
}

function ExperimentLine({ application, experiment, verdict }: ExperimentLineProps) {
  const { type, id, name, status, created_at } = experiment;
  const tone = verdict === undefined ? 'open' : findTone(verdict);
  const isActive = status === 'started';
  return (
    <li>
      <span className={isActive ? styles.running : styles[tone]}>
        <Icon name={isActive ? 'experiment' : (ICONS[tone] ?? 'stopped')} />
      </span>
      <div>
        <Link to="/apps/$application/experiments/$type/$id" params={{ application, type, id }} title={name}>
          <bdi>{name}</bdi>
        </Link>
        <p className="meta">
          {verdict ?? status}, {EXPERIMENTS[type].label.toLowerCase()}, <RelativeTime at={created_at} />
        </p>
      </div>
    </li>
  );
}
