/** The size of a search. */
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../../client/client.ts';
import type { ExperimentDraft } from '../draft.ts';
import { buildBisect } from '../types/bisect.ts';

/** The plan of the search that the form describes. The server computes it and creates nothing. */
export const searchPlanQuery = (application: string, draft: ExperimentDraft) => {
  const search = buildBisect(draft);
  return queryOptions({
    queryKey: ['planBisectExperiment', application, search],
    queryFn: async ({ signal }) => {
      const { body } = await client.call('planBisectExperiment', {
        params: { application_id: application },
        // The size does not depend on the name, which the form may not have yet.
        body: { ...search, name: 'Search' },
        signal,
      });
      return body;
    },
    placeholderData: (previous) => previous,
  });
};
