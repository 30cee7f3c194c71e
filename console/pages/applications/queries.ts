import { operationQuery } from '../../client/queries.ts';

/** The applications of the account, newest first. */
export const applicationsQuery = operationQuery('listApplications', { query: { pagereturn: true } });
