import type { TypeOfKind } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { BatchExperiment } from '@switchyard/contract/experiments/batch-experiments.ts';
import { readBatchInput } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { describeError } from '../../../client/client.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { EnsembleArms } from '../evidence/ensemble-arms.tsx';
import { FailuresSection } from '../evidence/failures-section.tsx';
import { RunsSection } from '../evidence/runs-section.tsx';
import { experimentQuery, experimentRunsQuery } from '../queries.ts';
import { useExperimentSearch } from '../use-experiment-search.ts';
import { PairedResult } from './paired-result.tsx';

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
    <PairedResult
      {...{ type, application, runs, ...searchState }}
      experiment={data}
      empty={describeEmpty(data)}
      compared={omitShortage(data)}
      racing={data.racing}
      optionSets={data.option_sets}
      profiles={data.profiles}
      objectives={data.objectives}
      readInput={readBatchInput}
      unit="input"
      folds={
        <>
          {data.ensembles && (
            <EnsembleArms arms={data.ensembles} compared={data.comparisons} {...searchState} />
          )}
          <FailuresSection application={application} failures={data.failures} />
          <RunsSection application={application} runs={runs} total={data.number_of_runs} />
          {runs.length < data.number_of_runs && data.status !== 'started' && (
            <div data-page-only="">
              <p className="soft">
                The pictures by input show the newest {formatNumber(runs.length)} of{' '}
                {formatNumber(data.number_of_runs)} runs.
              </p>
              {all.error && <Notice kind="error">{describeError(all.error)}</Notice>}
              <Button onPress={() => setLoadsAll(true)} isDisabled={all.isFetching}>
                {all.isFetching ? 'Loading …' : 'Load all runs'}
              </Button>
            </div>
          )}
        </>
      }
    />
  );
}

function describeEmpty({ status, failures }: BatchExperiment): string {
  if (status === 'started') return 'No result so far: it appears when runs have ended on both sides.';
  if (status === 'failed') return `No run succeeded, so nothing can be compared. ${failures[0]?.error ?? ''}`;
  return 'Nothing to compare: it ran one configuration, or no run has a result.';
}
