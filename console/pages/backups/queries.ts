import { operationQuery } from '../../client/queries.ts';

/** The backups of the server, newest first. */
export const backupsQuery = operationQuery('getBackups');
