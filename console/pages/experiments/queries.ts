import type { ExperimentType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import {
  type ExperimentBody,
  readExperiment,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import {
  type ListedComparison,
  listRemaining,
  summarizeVerdicts,
} from '@switchyard/contract/experiments/presentation/compared-indicators.ts';
import {
  type ExperimentsPage,
  type ListedExperiment,
  listFirstTokens,
  mergeExperiments,
  readExperiments,
} from '@switchyard/contract/experiments/presentation/list-experiments.ts';
import { isExperimentTerminal } from '@switchyard/contract/states.ts';
import { infiniteQueryOptions, queryOptions, useQueries } from '@tanstack/react-query';
import { unlessLive } from '../../client/account-changes.ts';
import { client } from '../../client/client.ts';

const ACTIVE_REFETCH_MS = 2_000;
const IDLE_REFETCH_MS = 15_000;
/** The response with the verdict of a larger batch has megabytes of runs, too many for one word of a list. */
const VERDICT_RUNS_MAX = 250;

/** The experiments of an application by pages. It refetches while one is active. */
export const experimentsQuery = (application: string, type: ExperimentType | undefined) =>
  infiniteQueryOptions({
    queryKey: ['listExperiments', application, type ?? ''],
    initialPageParam: listFirstTokens(type),
    queryFn: ({ pageParam, signal }) =>
      readExperiments({ client, application, type, tokens: pageParam, signal }),
    getNextPageParam: ({ next }: ExperimentsPage) => next,
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages ?? [];
      const isActive = mergeExperiments(pages, type).some(({ status }) => status === 'started');
      return unlessLive((isActive ? ACTIVE_REFETCH_MS : IDLE_REFETCH_MS) * Math.max(pages.length, 1));
    },
    meta: {
      topics: [
        { events: 'experiments', application },
        { events: 'runs', application },
      ],
    },
  });

/** The verdict of an ended experiment in a word, such as `better`; null for none. Lists do not contain it. */
const verdictQuery = (application: string, experiment: ListedExperiment) => {
  const { type, id, status, progress } = experiment;
  return queryOptions({
    queryKey: ['experimentVerdict', application, type, id],
    queryFn: async ({ signal }) =>
      summarizeVerdicts(listVerdicts(await readExperiment(client, { application, type, id }, { signal }))),
    enabled:
      isExperimentTerminal(status) &&
      experiment.verdict === undefined &&
      (progress?.requested ?? 0) <= VERDICT_RUNS_MAX,
    staleTime: Number.POSITIVE_INFINITY,
  });
};

/** Returns the verdict of each experiment in a word; undefined while it has none. */
export function useVerdicts(
  application: string,
  experiments: readonly ListedExperiment[],
): (string | undefined)[] {
  return useQueries({
    queries: experiments.map((experiment) => verdictQuery(application, experiment)),
    combine: (results) => results.map(({ data }, index) => experiments[index]?.verdict ?? data ?? undefined),
  });
}

/** Returns the comparisons that a result has; none for an acceptance test, whose list contains the verdict. */
function listVerdicts(result: ExperimentBody): ListedComparison[] {
  if ('compared' in result)
    return result.compared.flatMap<ListedComparison>((one) => ('indicators' in one ? one.indicators : [one]));
  if ('comparisons' in result)
    return listRemaining(result.comparisons).flatMap(({ indicators }) => indicators);
  return 'verdict' in result ? [{ role: 'primary', verdict: result.verdict }] : [];
}
