import { operationQuery } from '../../client/queries.ts';

/** The keys that the person may see, newest first. */
export const keysQuery = operationQuery('listKeys');
