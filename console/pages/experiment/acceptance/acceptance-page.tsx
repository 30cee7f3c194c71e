import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import { collectComparison } from '@switchyard/contract/experiments/presentation/compared-indicators.ts';
import { readBatchInput } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { VerdictBadge } from '../../../ui/experiments/verdict-badge.tsx';
import { Notice } from '../../../ui/notice.tsx';
import view from '../comparison/comparison-view.module.css';
import { Paragraphs } from '../comparison/outcome.tsx';
import { ComparisonView } from '../comparison-view/comparison-view.tsx';
import { ExperimentHeader } from '../experiment-header.tsx';
import styles from '../experiment-page.module.css';
import { acceptanceQuery, batchRunsQuery } from '../queries.ts';
import { useExperimentSearch } from '../use-experiment-search.ts';
import { RuleTable } from './rule-table.tsx';

interface AcceptancePageProps {
  application: string;
  id: string;
}

/** The result of an acceptance test: the outcome of its rules, and the comparison behind them. */
export function AcceptancePage({ application, id }: AcceptancePageProps) {
  const { data } = useSuspenseQuery(acceptanceQuery(application, id));
  return (
    <>
      <ExperimentHeader type="acceptance" application={application} experiment={data} />
      <div className={styles.sections}>
        <AcceptanceOutcome test={data} />
        {data.warnings.length > 0 && (
          <Notice kind="warning">
            <Paragraphs texts={data.warnings} />
          </Notice>
        )}
        <p className={styles.hint}>
          The runs are those of the batch experiment{' '}
          <Link
            to="/apps/$application/experiments/$type/$id"
            params={{ application, type: 'batch', id: data.experiment_id }}
          >
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

/** The decision in one sentence: how many rules the candidate meets. */
function AcceptanceOutcome({ test: { results, metrics, candidate } }: { test: AcceptanceTest }) {
  const name = candidate.ensemble_id ?? candidate.instance_id;
  if (!results)
    return (
      <Notice kind="info">
        The rules are evaluated once, when all runs of the batch experiment have ended.
      </Notice>
    );
  const met = results.metric_results?.filter(({ passed }) => passed).length ?? 0;
  return (
    <section className={view.outcome} aria-label="Decision">
      <p>
        <VerdictBadge verdict={results.passed ? 'passed' : 'not passed'} />
      </p>
      <h2 className={view.headline}>
        {results.passed
          ? `${name} meets ${metrics.length === 1 ? 'the rule' : `all ${metrics.length} rules`}.`
          : `${name} meets ${met} of ${metrics.length} ${metrics.length === 1 ? 'rule' : 'rules'}.`}
      </h2>
      {results.error !== undefined && <Notice kind="error">{results.error}</Notice>}
    </section>
  );
}

/** The comparison of both sides, one indicator for each field of the rules. */
function Comparison({ application, test }: { application: string; test: AcceptanceTest }) {
  const searchState = useExperimentSearch();
  const runs = useQuery(batchRunsQuery(application, test.experiment_id));
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
