import type { Input } from '@switchyard/contract/applications/inputs.ts';
import { client } from './client.ts';
import { pagedQuery } from './paged-query.ts';

/** The managed inputs of the application, newest first, by pages. */
export const inputsQuery = (application: string) =>
  pagedQuery<Input>(['listInputs', application], async (query, signal) => {
    const { body } = await client.call('listInputs', {
      params: { application_id: application },
      query,
      signal,
    });
    return body;
  });
