import { queryOptions } from '@tanstack/react-query';
import { operationQuery } from '../../client/queries.ts';

const REFRESH_MS = 10_000;

/** The quotas of the account and their use, read again every ten seconds while the page is visible. */
export const quotasQuery = queryOptions({ ...operationQuery('getQuotas'), refetchInterval: REFRESH_MS });

/** The quotas of an application and their use. A form begins with them, so they are always read again. */
export const applicationQuotasQuery = (application: string) =>
  queryOptions({
    ...operationQuery('getApplicationQuotas', { params: { application_id: application } }),
    gcTime: 0,
  });

/** The licences of the account and the runs that use them, read again every ten seconds while the page is visible. */
export const licensesQuery = queryOptions({
  ...operationQuery('getLicenses'),
  refetchInterval: REFRESH_MS,
  meta: { topics: [{ events: 'queue' }] },
});
