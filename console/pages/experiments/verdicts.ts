/** The verdicts of a list. The queries of its route, which the first page loads, do not describe experiments. */
import { type ExperimentType, hasFact } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { readExperiment } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import type { ListedExperiment } from '@switchyard/contract/experiments/presentation/list-experiments.ts';
import { isExperimentTerminal } from '@switchyard/contract/states.ts';
import { queryOptions, useQueries } from '@tanstack/react-query';
import { client } from '../../client/client.ts';
import { describeExperiment } from '../experiment/verdict/describe-experiment.ts';
import type { Verdict } from '../experiment/verdict/describe-verdict.ts';

/** The response with the verdict of a larger batch has megabytes of runs, too many for one word of a list. */
const VERDICT_RUNS_MAX = 250;

/** An experiment that ends by itself has its runs in its response. */
const embedsRuns = (type: ExperimentType): boolean => hasFact(type, 'ownsRuns') && !hasFact(type, 'canStop');

/** The verdict of an ended experiment, as its page has it; null for none. Lists do not contain it. */
const verdictQuery = (application: string, { type, id, status, progress }: ListedExperiment) =>
  queryOptions({
    queryKey: ['experimentVerdict', application, type, id],
    queryFn: async ({ signal }) => {
      const address = { application, type, id };
      return describeExperiment(address, await readExperiment(client, address, { signal }));
    },
    enabled:
      isExperimentTerminal(status) && (!embedsRuns(type) || (progress?.requested ?? 0) <= VERDICT_RUNS_MAX),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Returns the verdict of each experiment; undefined while it has none. */
export function useVerdicts(
  application: string,
  experiments: readonly ListedExperiment[],
): (Verdict | undefined)[] {
  return useQueries({
    queries: experiments.map((experiment) => verdictQuery(application, experiment)),
    combine: (results) => results.map(({ data }) => data ?? undefined),
  });
}
