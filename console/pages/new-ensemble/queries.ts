import { operationQuery } from '../../client/queries.ts';

/** The instances of the application, newest first, which the groups of an ensemble run. */
export const instancesQuery = (application: string) =>
  operationQuery('listInstances', { params: { application_id: application } });
