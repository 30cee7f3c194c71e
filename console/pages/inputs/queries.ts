import { operationQuery, queryClient } from '../../client/queries.ts';

/** One managed input, with a download URL that is valid for ten minutes. */
export const inputQuery = (application: string, input: string) =>
  operationQuery('getInput', { params: { application_id: application, input_id: input } });

/** Reads the inputs again after a change. */
export async function refreshInputs(): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ['listInputs'] }),
    queryClient.invalidateQueries({ queryKey: ['getInput'] }),
  ]);
}
