import type { TypeOfKind } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
import { readBatchInput } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { describeError } from '../../../client/client.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Paragraphs } from '../comparison/outcome.tsx';
import { ComparisonView } from '../comparison-view/comparison-view.tsx';
import { DecisionCard } from '../decision-card.tsx';
import { EnsembleArms } from '../ensemble-arms/ensemble-arms.tsx';
import { ExperimentHeader } from '../experiment-header.tsx';
import styles from '../experiment-page.module.css';
import { FailuresSection } from '../failures-section.tsx';
import { experimentQuery, experimentRunsQuery } from '../queries.ts';
import { RaceStandings } from '../race/race-standings.tsx';
import { RunsSection } from '../runs-section.tsx';
import { useExperimentSearch } from '../use-experiment-search.ts';

/** The plan has too few inputs: its warning says how many a verdict needs, and which set to use. */
const PLAN_SHORTAGE = /needs at least \d+\. Use an input set/;
const REASON_SHORTAGE = /; a verdict needs at least \d+\.$/;

/** Returns the comparisons without the reason that the warning of the plan has said already. */
function omitShortage({ comparisons, warnings }: Pick<BatchExperiment, 'comparisons' | 'warnings'>) {
  if (!warnings.some((warning) => PLAN_SHORTAGE.test(warning))) return comparisons;
  return comparisons.map((compared) => ({
    ...compared,
    indicators: compared.indicators.map((comparison) => ({
      ...comparison,
      reasons: comparison.reasons.filter((reason) => !REASON_SHORTAGE.test(reason)),
    })),
  }));
}

interface BatchPageProps {
  type: TypeOfKind<'batch'>;
  application: string;
  id: string;
}

/** The result of a batch experiment or scenario test. */
export function BatchPage({ type, application, id }: BatchPageProps) {
  const { data } = useSuspenseQuery(experimentQuery({ type, application, id }));
  const [loadsAll, setLoadsAll] = useState(false);
  const all = useQuery({ ...experimentRunsQuery({ type, application, id }), enabled: loadsAll });
  const searchState = useExperimentSearch();
  const runs = all.data?.runs ?? data.runs;
  return (
    <>
      <ExperimentHeader type={type} application={application} experiment={data} />
      <div className={styles.sections}>
        <DecisionCard application={application} experiment={data} />
        {data.warnings.length > 0 && (
          <Notice kind="warning">
            <Paragraphs texts={data.warnings} />
          </Notice>
        )}
        {data.comparisons.length === 0 ? (
          <Notice kind="info">
            {data.status === 'started'
              ? 'The comparison appears when runs have ended on both sides.'
              : 'This experiment has nothing to compare: it ran one configuration, or no run has a result.'}
          </Notice>
        ) : (
          <ComparisonView
            application={application}
            compared={omitShortage(data)}
            runs={runs}
            readInput={readBatchInput}
            unit="input"
            {...(data.profiles && { profiles: data.profiles })}
            {...(data.objectives && { objectives: data.objectives })}
            {...searchState}
          />
        )}
        {data.racing && data.comparisons.length > 0 && (
          <RaceStandings racing={data.racing} compared={data.comparisons} />
        )}
        {data.ensembles && (
          <EnsembleArms arms={data.ensembles} compared={data.comparisons} {...searchState} />
        )}
        {runs.length < data.number_of_runs && data.status !== 'started' && (
          <div data-page-only="">
            <p className="soft">
              The picture by input shows the newest {formatNumber(runs.length)} of{' '}
              {formatNumber(data.number_of_runs)} runs.
            </p>
            {all.error && <Notice kind="error">{describeError(all.error)}</Notice>}
            <Button onPress={() => setLoadsAll(true)} isDisabled={all.isFetching}>
              {all.isFetching ? 'Loading …' : 'Load all runs'}
            </Button>
          </div>
        )}
        <FailuresSection application={application} failures={data.failures} />
        <RunsSection application={application} runs={runs} total={data.number_of_runs} />
      </div>
    </>
  );
}
