import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { VerdictBadge } from '../../../ui/experiments/verdict-badge.tsx';
import { Notice } from '../../../ui/notice.tsx';
import view from '../comparison/comparison-view.module.css';
import { ExperimentHeader } from '../experiment-header.tsx';
import styles from '../experiment-page.module.css';
import { FailuresSection } from '../failures-section.tsx';
import { experimentQuery } from '../queries.ts';
import { SearchPicture } from './search-picture.tsx';
import { StepTable } from './step-table.tsx';
import { StopBisect } from './stop-bisect.tsx';

/** The result of a bisect experiment: the version that made the indicator worse, and the search for it. */
export function BisectPage({ application, id }: { application: string; id: string }) {
  const { data } = useSuspenseQuery(experimentQuery({ type: 'bisect', application, id }));
  return (
    <>
      <ExperimentHeader
        type="bisect"
        application={application}
        experiment={data}
        actions={<StopBisect application={application} id={id} status={data.status} />}
      />
      <div className={styles.sections}>
        <section className={view.outcome} aria-label="Verdict">
          <p>
            <VerdictBadge verdict={data.verdict} />
            {data.verdict === 'running' && <span className={view.interim}>Interim</span>}
          </p>
          {data.reason !== '' && <h2 className={view.headline}>{data.reason}</h2>}
          {data.runs_needed !== null && (
            <p>The search needs about {formatNumber(data.runs_needed)} more runs.</p>
          )}
        </section>
        {data.skipped_versions.length > 0 && (
          <Notice kind="warning">
            {data.skipped_versions.map(({ version_id, reason }) => (
              <p key={version_id}>
                <bdi>{version_id}</bdi>: {reason}
              </p>
            ))}
          </Notice>
        )}
        <SearchPicture search={data} />
        <StepTable search={data} />
        <FailuresSection application={application} failures={data.failures} />
      </div>
    </>
  );
}
