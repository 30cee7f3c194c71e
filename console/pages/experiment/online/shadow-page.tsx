import { createOriginalReader } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Notice } from '../../../ui/notice.tsx';
import { Paragraphs } from '../comparison/outcome.tsx';
import { ComparisonView } from '../comparison-view/comparison-view.tsx';
import { DecisionCard } from '../decision-card.tsx';
import { ExperimentHeader } from '../experiment-header.tsx';
import styles from '../experiment-page.module.css';
import { experimentQuery, experimentRunsQuery } from '../queries.ts';
import { RunsSection } from '../runs-section.tsx';
import { useExperimentSearch } from '../use-experiment-search.ts';
import { OnlineActions } from './online-actions.tsx';
import { RefusedCopies } from './refused-copies.tsx';

/** The result of a shadow test: each candidate against the baseline, by original. */
export function ShadowPage({ application, id }: { application: string; id: string }) {
  const { data } = useSuspenseQuery(experimentQuery({ type: 'shadow', application, id }));
  const runs = useQuery({
    ...experimentRunsQuery({ type: 'shadow', application, id }),
    enabled: data.number_of_runs > 0,
  });
  const searchState = useExperimentSearch();
  const { maximum_runs } = data.termination_events;
  return (
    <>
      <ExperimentHeader
        type="shadow"
        application={application}
        experiment={data}
        actions={<OnlineActions type="shadow" application={application} id={id} status={data.status} />}
      />
      <div className={styles.sections}>
        <DecisionCard application={application} experiment={data} />
        <p className="soft">
          Copies runs of {data.comparison.baseline_instance_id} to{' '}
          {data.comparisons.flatMap((one) => one.candidate_instance_ids).join(', ')}, at most{' '}
          {formatNumber(maximum_runs)}.
        </p>
        {data.warnings.length > 0 && (
          <Notice kind="warning">
            <Paragraphs texts={data.warnings} />
          </Notice>
        )}
        {data.compared.length === 0 ? (
          <Notice kind="info">
            {data.status === 'draft'
              ? 'Start the test to copy the runs that callers create on the baseline.'
              : 'The comparison appears when an original and its copy have ended.'}
          </Notice>
        ) : (
          <ComparisonView
            application={application}
            compared={data.compared}
            objectives={data.objectives}
            runs={runs.data?.runs ?? []}
            readInput={createOriginalReader(id)}
            unit="original"
            {...searchState}
          />
        )}
        <RefusedCopies copies={data.refused_runs} />
        <RunsSection
          application={application}
          runs={runs.data?.runs ?? []}
          total={runs.data?.runs.length ?? 0}
        />
      </div>
    </>
  );
}
