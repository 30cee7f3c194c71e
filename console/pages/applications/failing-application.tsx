import type { ApplicationSummary } from '@switchyard/contract/runs/run-counts.ts';
import { Icon } from '@switchyard/design/icon.tsx';
import { countFailures } from '../../client/recent-runs.ts';
import { LinkButton } from '../../ui/button.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import styles from './applications-page.module.css';

/** Says that the latest production runs of an application fail, since when, and where to look; nothing if few do. */
export function FailingApplication({ application_id: id, name, runs }: ApplicationSummary) {
  const { tone, failed, counted, newest, oldest, version } = countFailures(runs);
  if (!tone || !newest || !oldest) return null;
  return (
    <div className={styles.need}>
      <span className={tone}>
        <Icon name={tone} />
      </span>
      <div>
        <h2>
          <bdi>{name}</bdi> fails
        </h2>
        <p>
          {failed} of the last {counted} production runs failed, the first{' '}
          <RelativeTime at={oldest.created_at} />.{' '}
          {version !== undefined && (
            <>
              It began with version <bdi>{version}</bdi>.
            </>
          )}
        </p>
        <p className="line">
          <LinkButton to="/apps/$application/runs/$run" params={{ application: id, run: newest.id }}>
            Newest failure
          </LinkButton>
          <LinkButton
            kind="quiet"
            to="/apps/$application/runs"
            params={{ application: id }}
            search={{ status: 'failed' }}
          >
            All failed runs
          </LinkButton>
        </p>
      </div>
    </div>
  );
}
