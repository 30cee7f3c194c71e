import type { Application } from '@switchyard/contract/applications/applications.ts';
import { Icon, type IconName } from '@switchyard/design/icon.tsx';
import { useSuspenseQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { instancesQuery } from '../../client/applications.ts';
import { listItems } from '../../client/list-items.ts';
import { countFailures } from '../../client/recent-runs.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { useRight } from '../../ui/use-right.ts';
import styles from './application-page.module.css';
import { listNumericIndicators } from './list-lanes.ts';
import { recentRunsQuery } from './queries.ts';

/** The runs that the failures are counted in, as in the list of applications. */
const COUNTED_RUNS = 15;

interface NeedsProps {
  application: Application;
  onChooseObjective: () => void;
}

/** What of the application needs someone, each with one thing to do. */
export function ApplicationNeeds({ application, onChooseObjective }: NeedsProps) {
  const { id } = application;
  const { data } = useSuspenseQuery(recentRunsQuery(id));
  const { data: found } = useSuspenseQuery(instancesQuery(id));
  const canWrite = useRight('write');
  const { tone, failed, counted, newest, oldest, version } = countFailures(data.runs.slice(0, COUNTED_RUNS));
  const broken = listItems(found).filter(({ version_deleted }) => version_deleted);
  const lacksObjective =
    canWrite && application.objective === null && listNumericIndicators(data.runs).length > 0;
  if (!tone && broken.length === 0 && !lacksObjective) return null;
  return (
    <ul className={styles.needs} aria-label="What needs you">
      {tone && newest && oldest && (
        <Need
          icon={tone === 'bad' ? 'bad' : 'warning'}
          tone={tone}
          title={`${failed} of the last ${counted} production runs failed`}
          action={
            <LinkButton to="/apps/$application/runs/$run" params={{ application: id, run: newest.id }}>
              Newest failure
            </LinkButton>
          }
        >
          The first <RelativeTime at={oldest.created_at} />
          {version !== undefined && (
            <>
              , with version <bdi>{version}</bdi>
            </>
          )}
          .
        </Need>
      )}
      {broken.map((instance) => (
        <Need
          key={instance.id}
          icon="bad"
          tone="bad"
          title={
            <>
              <bdi>{instance.name}</bdi> refuses runs
            </>
          }
          action={
            <LinkButton
              to="/apps/$application/instances/$instance"
              params={{ application: id, instance: instance.id }}
            >
              Choose a version
            </LinkButton>
          }
        >
          Its version <bdi>{instance.version_id}</bdi> was deleted.
        </Need>
      ))}
      {lacksObjective && (
        <Need
          icon="question"
          tone="soft"
          title="Nobody has said which number counts"
          action={<Button onPress={onChooseObjective}>Choose the objective</Button>}
        >
          Without an objective no page can say which run is better.
        </Need>
      )}
    </ul>
  );
}

interface NeedProps {
  icon: IconName;
  tone: 'bad' | 'warning' | 'soft';
  title: ReactNode;
  action: ReactNode;
  children: ReactNode;
}

function Need({ icon, tone, title, action, children }: NeedProps) {
  return (
    <li>
      <span className={tone}>
        <Icon name={icon} />
      </span>
      <div>
        <strong>{title}</strong>
        <p className="meta">{children}</p>
      </div>
      {action}
    </li>
  );
}
