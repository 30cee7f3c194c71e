import { operationQuery } from '../../../client/queries.ts';

/** The saved views of the application that the reader sees. */
export const viewsQuery = (application: string) =>
  operationQuery('listRunViews', { params: { application_id: application } });
