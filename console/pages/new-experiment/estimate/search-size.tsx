import type { ExperimentType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useQuery } from '@tanstack/react-query';
import { describeError } from '../../../client/client.ts';
import { splitList } from '../../../ui/forms/split-text.ts';
import type { ExperimentDraft } from '../draft.ts';
import styles from '../new-experiment-page.module.css';
import type { ExperimentRequest } from '../types/type-forms.ts';
import { searchPlanQuery } from './search-plan-query.ts';
import { TimeEstimate } from './time-estimate.tsx';

interface SearchSizeProps {
  type: ExperimentType;
  application: string;
  draft: ExperimentDraft;
  request: ExperimentRequest;
  /** Slots of the workers. */
  available: number;
}

/** The runs of a search and their time, or why the server would refuse it. */
export function SearchSize({ application, type, draft, request, available }: SearchSizeProps) {
  const { inputSet, inputIds, goodVersion, badVersion, difference } = draft;
  const hasInputs = inputSet !== '' || splitList(inputIds).length > 0;
  const isComplete = hasInputs && goodVersion !== badVersion && Number(difference) > 0;
  const { data, error } = useQuery({ ...searchPlanQuery(application, request), enabled: isComplete });
  if (!isComplete)
    return (
      <p className="soft">
        Choose inputs, a bad version that is later than the good one, and a difference above 0.
      </p>
    );
  if (error) return <p className="soft">{describeError(error)}</p>;
  if (!data) return <p className="soft">Computing the plan …</p>;
  const { number_of_tests: tests, runs_per_round, minimum_runs, maximum_runs } = data;
  return (
    <>
      <p className={styles.runs}>
        At most {formatNumber(tests)} {tests === 1 ? 'version' : 'versions'} to test, each in rounds of{' '}
        {formatNumber(runs_per_round)} runs, until its difference is decided: {formatNumber(minimum_runs)}{' '}
        runs if each test decides after the fewest rounds, and at most {formatNumber(maximum_runs)}.
      </p>
      <TimeEstimate
        {...{ application, type, draft, available }}
        work={[{ instance: draft.control, runs: runs_per_round }]}
        rounds={minimum_runs / runs_per_round}
      />
    </>
  );
}
