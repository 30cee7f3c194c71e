import { operationQuery } from '../../client/queries.ts';

/** The people of the account, newest first. */
export const membersQuery = operationQuery('listMembers');
