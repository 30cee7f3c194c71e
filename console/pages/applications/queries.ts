import { operationQuery } from '../../client/queries.ts';

/** Runs that the row of an application sums up. */
const RECENT_RUNS = 30;

/** The latest runs of an application, newest first. */
export const recentRunsQuery = (application: string) =>
  operationQuery('listRuns', { params: { application_id: application }, query: { limit: RECENT_RUNS } });
