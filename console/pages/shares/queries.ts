import { operationQuery } from '../../client/queries.ts';

/** A page of the share links of the account, newest first. */
export const sharesQuery = ({ pagetoken }: { pagetoken?: string }) =>
  operationQuery('listAccountShares', { query: pagetoken === undefined ? {} : { pagetoken } });
