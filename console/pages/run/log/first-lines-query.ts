import { LOG_MATCHES_MAX } from '@switchyard/contract/limits.ts';
import { queryOptions } from '@tanstack/react-query';
import { operationQuery } from '../../../client/queries.ts';
import { getRunParams, type RunAddress } from '../queries.ts';

/** The first lines of the log of an ended run with their times and levels, or those of a level. Most logs have no more. */
export function firstLinesQuery(address: RunAddress, level?: 'warning') {
  return queryOptions({
    ...operationQuery('searchRunLog', {
      params: getRunParams(address),
      query: { limit: LOG_MATCHES_MAX, ...(level && { level }) },
    }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
