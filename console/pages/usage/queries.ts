import { operationQuery } from '../../client/queries.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The usage of the last days, today included, by the group. */
export function usageQuery(days: number, group_by: string) {
  const from = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 'yyyy-mm-dd'.length);
  return operationQuery('getUsage', { query: { from, group_by } });
}
