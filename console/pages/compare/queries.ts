import { operationQuery } from '../../client/queries.ts';

const SUGGESTED_RUNS = 20;

/** The run with its options and indicators. */
export function runQuery(application: string, run: string) {
  return operationQuery('getRunMetadata', { params: { application_id: application, run_id: run } });
}

/** The newest runs of the application, as suggestions. */
export function newestRunsQuery(application: string) {
  return operationQuery('listRuns', {
    params: { application_id: application },
    query: { limit: SUGGESTED_RUNS },
  });
}
