import type { InputSet } from '@switchyard/contract/applications/input-sets.ts';
import { client } from '../../client/client.ts';
import { pagedQuery } from '../../client/paged-query.ts';
import { operationQuery, queryClient } from '../../client/queries.ts';

/** The input sets of the application, newest first, by pages. */
export const inputSetsQuery = (application: string) =>
  pagedQuery<InputSet>(['listInputSets', application], async (query, signal) => {
    const { body } = await client.call('listInputSets', {
      params: { application_id: application },
      query,
      signal,
    });
    return body;
  });

/** One input set. The download URL of each input is valid for ten minutes. */
export const inputSetQuery = (application: string, set: string) =>
  operationQuery('getInputSet', { params: { application_id: application, input_set_id: set } });

/** Reads the input sets again after a change. */
export async function refreshInputSets(): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ['listInputSets'] }),
    queryClient.invalidateQueries({ queryKey: ['getInputSet'] }),
  ]);
}
