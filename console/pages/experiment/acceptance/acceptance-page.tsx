import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import { findEvaluated } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { collectComparison } from '@switchyard/contract/experiments/presentation/compared-indicators.ts';
import { readBatchInput } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Notice } from '../../../ui/notice.tsx';
import { Paragraphs } from '../comparison/outcome.tsx';
import { ComparisonView } from '../comparison-view/comparison-view.tsx';
import { DecisionCard } from '../decision-card.tsx';
import { ExperimentHeader } from '../experiment-header.tsx';
import styles from '../experiment-page.module.css';
import { experimentQuery, experimentRunsQuery } from '../queries.ts';
import { useExperimentSearch } from '../use-experiment-search.ts';
import { RuleTable } from './rule-table.tsx';

interface AcceptancePageProps {
  application: string;
  id: string;
}

/** The result of an acceptance test: the outcome of its rules, and the comparison behind them. */
export function AcceptancePage({ application, id }: AcceptancePageProps) {
  const { data } = useSuspenseQuery(experimentQuery({ type: 'acceptance', application, id }));
  return (
    <>
      <ExperimentHeader type="acceptance" application={application} experiment={data} />
      <div className={styles.sections}>
        <AcceptanceOutcome application={application} test={data} />
        {data.warnings.length > 0 && (
          <Notice kind="warning">
            <Paragraphs texts={data.warnings} />
          </Notice>
        )}
        <p className="soft">
          The runs are those of the batch experiment{' '}
          <Link to="/apps/$application/experiments/$type/$id" params={findEvaluated({ application }, data)}>
            {data.experiment_id}
          </Link>
          .
        </p>
        <RuleTable metrics={data.metrics} results={data.results?.metric_results ?? []} />
        {data.results?.metric_results && <Comparison application={application} test={data} />}
      </div>
    </>
  );
}

/** The decision by the rules, or the time of it. */
function AcceptanceOutcome({ application, test }: { application: string; test: AcceptanceTest }) {
  if (!test.results)
    return (
      <Notice kind="info">
        The rules are evaluated once, when all runs of the batch experiment have ended.
      </Notice>
    );
  return <DecisionCard application={application} experiment={test} />;
}

/** The comparison of both sides, one indicator for each field of the rules. */
function Comparison({ application, test }: { application: string; test: AcceptanceTest }) {
  const searchState = useExperimentSearch();
  const runs = useQuery(experimentRunsQuery(findEvaluated({ application }, test)));
  const compared = collectComparison(test);
  if (!compared || compared.indicators.length === 0) return null;
  return (
    <ComparisonView
      application={application}
      compared={[compared]}
      runs={runs.data?.runs ?? []}
      readInput={readBatchInput}
      unit="input"
      {...(test.results?.profiles && { profiles: test.results.profiles })}
      {...searchState}
    />
  );
}
