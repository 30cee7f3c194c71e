import type { AuditEntry } from '@switchyard/contract/account/audit.ts';
import { client } from '../../client/client.ts';
import { pagedQuery } from '../../client/paged-query.ts';
import type { AuditSearch } from './search.ts';

/** The entries of the audit log that match, by pages, newest first. */
export const auditQuery = (search: AuditSearch) =>
  pagedQuery<AuditEntry>(
    ['listAuditEntries', search],
    async (page, signal) =>
      (await client.call('listAuditEntries', { query: { ...page, ...search }, signal })).body,
  );
