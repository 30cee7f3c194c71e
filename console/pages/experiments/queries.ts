import type { ExperimentSummary } from '@switchyard/contract/experiments/experiment-summaries.ts';
import type { Topic } from '../../client/account-changes.ts';
import { unlessLive } from '../../client/account-changes.ts';
import { client } from '../../client/client.ts';
import { pagedQuery } from '../../client/paged-query.ts';
import type { ExperimentsSearch } from './search.ts';

const ACTIVE_REFETCH_MS = 2_000;
const IDLE_REFETCH_MS = 15_000;

/** The experiments of an application with their verdicts, by pages. It refetches while one is active. */
export const experimentsQuery = (application: string, { type, status }: ExperimentsSearch = {}) => ({
  ...pagedQuery<ExperimentSummary>(
    ['listExperimentSummaries', application, type ?? '', status ?? ''],
    async (page, signal) => {
      const query = { ...page, ...(type && { type }), ...(status && { status }) };
      const params = { application_id: application };
      return (await client.call('listExperimentSummaries', { params, query, signal })).body;
    },
  ),
  refetchInterval: ({
    state,
  }: {
    state: { data: { pages: { items: ExperimentSummary[] }[] } | undefined };
  }) => {
    const pages = state.data?.pages ?? [];
    const isActive = pages.some(({ items }) => items.some((one) => one.status === 'started'));
    return unlessLive((isActive ? ACTIVE_REFETCH_MS : IDLE_REFETCH_MS) * Math.max(pages.length, 1));
  },
  meta: {
    topics: [
      { events: 'experiments', application },
      { events: 'runs', application },
    ] satisfies Topic[],
  },
});
