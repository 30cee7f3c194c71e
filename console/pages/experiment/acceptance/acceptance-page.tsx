import { findEvaluated } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { collectComparison } from '@switchyard/contract/experiments/presentation/compared-indicators.ts';
import { readBatchInput } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMeaning } from '../../../client/indicator-meaning.ts';
import { experimentQuery, experimentRunsQuery } from '../queries.ts';
import { PairedResult } from '../result/paired-result.tsx';
import { useExperimentSearch } from '../use-experiment-search.ts';
import { describeAcceptance } from '../verdict/describe-acceptance.ts';
import { RuleList } from './rule-list.tsx';

interface AcceptancePageProps {
  application: string;
  id: string;
}

/** The result of an acceptance test: the outcome of its rules, and the comparison behind them. */
export function AcceptancePage({ application, id }: AcceptancePageProps) {
  const { data } = useSuspenseQuery(experimentQuery({ type: 'acceptance', application, id }));
  const { nameIndicator } = useMeaning(application);
  const searchState = useExperimentSearch();
  const owner = findEvaluated({ application }, data);
  const compared = collectComparison(data);
  const runs = useQuery({ ...experimentRunsQuery(owner), enabled: compared !== undefined });
  return (
    <PairedResult
      {...{ application, ...searchState }}
      type="acceptance"
      experiment={data}
      verdict={describeAcceptance(data, nameIndicator)}
      empty="No result so far: the rules are evaluated once, when all runs of the batch have ended."
      compared={compared ? [compared] : []}
      profiles={data.results?.profiles}
      runs={runs.data?.runs ?? []}
      readInput={readBatchInput}
      unit="input"
      picture={
        <>
          <RuleList test={data} nameIndicator={nameIndicator} />
          <p className="soft">
            The runs are those of the batch experiment{' '}
            <Link to="/apps/$application/experiments/$type/$id" params={owner}>
              <bdi>{data.experiment_id}</bdi>
            </Link>
            . For a pipeline, only “accepted” goes on.
          </p>
        </>
      }
      folds={null}
    />
  );
}
