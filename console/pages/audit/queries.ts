import { operationQuery } from '../../client/queries.ts';
import type { AuditSearch } from './search.ts';

/** A page of the audit log, newest first. */
export const auditQuery = (search: AuditSearch) => operationQuery('listAuditEntries', { query: search });
