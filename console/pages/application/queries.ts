import { queryOptions } from '@tanstack/react-query';
import { unlessLive } from '../../client/account-changes.ts';
import { operationQuery } from '../../client/queries.ts';
import { computeRefetchMs } from '../../client/run-refetch.ts';

const getParams = (application: string) => ({ params: { application_id: application } });

/** The application with its active executable. */
export const applicationQuery = (application: string) =>
  operationQuery('getApplication', getParams(application));

/** The instances of the application, newest first, without `latest`. */
export const instancesQuery = (application: string) =>
  operationQuery('listInstances', getParams(application));

/** The versions of the application, newest first. */
export const versionsQuery = (application: string) => operationQuery('listVersions', getParams(application));

/** The latest runs of the application, as many as one page of the API has. */
export const recentRunsQuery = (application: string) =>
  queryOptions({
    ...operationQuery('listRuns', { params: { application_id: application } }),
    refetchInterval: ({ state }) => unlessLive(computeRefetchMs(state.data?.runs ?? [])),
    meta: { topics: [{ events: 'runs', application }] },
  });
