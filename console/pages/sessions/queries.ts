import { operationQuery } from '../../client/queries.ts';

/** The sessions that the person may see, newest first. */
export const sessionsQuery = operationQuery('listSessions');
