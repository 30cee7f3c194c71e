import { operationQuery } from './queries.ts';

/** The applications of the account, newest first, which a page and the command palette list. */
export const applicationsQuery = operationQuery('listApplications', { query: { pagereturn: true } });
