/** The size of a search. */
import { toBody } from '@switchyard/contract/client.ts';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../../client/client.ts';
import type { ExperimentRequest } from '../types/type-forms.ts';

/** The plan of the search that the form describes. The server computes it and creates nothing. */
export const searchPlanQuery = (application: string, { body }: ExperimentRequest) => {
  // The size does not depend on the names, which the form may not have yet.
  const { id: _, name: _name, description: _text, ...search } = body;
  return queryOptions({
    queryKey: ['planBisectExperiment', application, search],
    queryFn: async ({ signal }) => {
      const { body } = await client.call('planBisectExperiment', {
        params: { application_id: application },
        body: toBody('planBisectExperiment', { ...search, name: 'Search' }),
        signal,
      });
      return body;
    },
    placeholderData: (previous) => previous,
  });
};
