import type { ExperimentType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import {
  type ExperimentsPage,
  listFirstTokens,
  mergeExperiments,
  readExperiments,
} from '@switchyard/contract/experiments/presentation/list-experiments.ts';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { unlessLive } from '../../client/account-changes.ts';
import { client } from '../../client/client.ts';

const ACTIVE_REFETCH_MS = 2_000;
const IDLE_REFETCH_MS = 15_000;
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
