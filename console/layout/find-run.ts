/** Finds the application of a run, because the API addresses runs by application and id. */
import { ApiError } from '@switchyard/contract/client.ts';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../client/client.ts';

/** Text that may be the id of a run: the server makes them of a prefix, the time and random letters. */
export const RUN_ID_PATTERN = /^run-[a-z\d-]{10,60}$/i;
/** Each application costs one request. */
const APPLICATIONS_MAX = 20;
const NOT_FOUND = 404;

/** The run with its application, or null if no application has it. It asks one application after the other. */
export const findRunQuery = (run: string, applications: readonly string[]) =>
  queryOptions({
    queryKey: ['find run', run, applications],
    queryFn: async () => {
      for (const application of [...new Set(applications)].slice(0, APPLICATIONS_MAX)) {
        if (await hasRun(application, run)) return { application, run };
      }
      return null;
    },
  });

async function hasRun(application: string, run: string): Promise<boolean> {
  try {
    await client.call('getRunMetadata', { params: { application_id: application, run_id: run } });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === NOT_FOUND) return false;
    throw error;
  }
}
