import type { Application } from '@switchyard/contract/applications/applications.ts';
import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { operationQuery } from './queries.ts';

/** A page of the API has 50 applications. More than this many pages would delay the first page of the console. */
const PAGES_MAX = 20;

/** Applications that a search shows. */
const SUGGESTED_MAX = 20;

/** The applications of the account, newest first, which a page and the command palette list. */
export const applicationsQuery = queryOptions({
  queryKey: ['listApplications'],
  queryFn: async ({ signal }) => {
    const applications: Application[] = [];
    let pagetoken: string | undefined;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const { body } = await client.call('listApplications', {
        query: { pagereturn: true, ...(pagetoken !== undefined && { pagetoken }) },
        signal,
      });
      if (Array.isArray(body)) return body;
      applications.push(...body.items);
      pagetoken = body.next_page_token;
      if (pagetoken === undefined) break;
    }
    return applications;
  },
});

/** The newest applications whose id or name contains the text; all without one. */
export const applicationSearchQuery = (typed: string) => {
  const text = typed.trim();
  return queryOptions({
    queryKey: ['listApplications', 'found', text],
    queryFn: async ({ signal }) => {
      const query = { pagereturn: true, limit: SUGGESTED_MAX, ...(text !== '' && { text }) };
      const { body } = await client.call('listApplications', { query, signal });
      return Array.isArray(body) ? { items: body, next_page_token: undefined } : body;
    },
  });
};

const getParams = (application: string) => ({ params: { application_id: application } });

/** The application with its active executable and its default instance. */
export const applicationQuery = (application: string) =>
  operationQuery('getApplication', getParams(application));

/** The instances of the application, newest first, without `latest`. */
export const instancesQuery = (application: string) =>
  operationQuery('listInstances', getParams(application));

/** One instance of the application. */
export const instanceQuery = (application: string, instance: string) =>
  operationQuery('getInstance', { params: { application_id: application, instance_id: instance } });

/** The versions of the application with their executables, newest first. */
export const versionsQuery = (application: string) => operationQuery('listVersions', getParams(application));
