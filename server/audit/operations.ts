/** The operations on the audit log. Nothing adds to it but what it tells of. */
import { ALL_ACCOUNTS } from '@switchyard/contract/audit.ts';
import { PAGE_ITEMS_MAX } from '@switchyard/contract/limits.ts';
import { hasRight, rolesWith } from '@switchyard/contract/roles.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { HandlersOf } from '../http/handler.ts';
import { cutPage, type PageTokens, pageObject, pageRequest } from '../http/paging.ts';
import { forbidden, shown } from '../http/problem.ts';
import { windowOf } from '../http/window.ts';
import { entryBody } from './entry.ts';
import { findHead, listEntries } from './store.ts';

interface Parts {
  database: Database;
  pageTokens: PageTokens;
  clock: Clock;
}

export function auditHandlers({
  database,
  pageTokens,
  clock,
}: Parts): HandlersOf<'listAuditEntries' | 'getAuditHead'> {
  return {
    async listAuditEntries({ caller, query }) {
      const account = query.account_id ?? caller.account;
      if (account !== caller.account && !hasRight(caller.role, 'server'))
        throw forbidden(
          `account_id is ${shown(account)}; only ${rolesWith('server').join(' and ')} may see the entries of other accounts than its own, ${shown(caller.account)}.`,
        );
      const wanted = {
        account: account === ALL_ACCOUNTS ? null : account,
        key: query.key_id ?? null,
        operation: query.operation ?? null,
        application: query.resource ?? null,
      };
      const window = windowOf(query, clock.now());
      const list = `audit ${JSON.stringify([wanted, query.start, query.end])}`;
      const { after, limit } = pageRequest(pageTokens, list, query);
      const request = { after, limit: limit ?? PAGE_ITEMS_MAX };
      const rows = await listEntries(database.read, wanted, window, request);
      const page = cutPage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
      return {
        status: 200,
        body: pageObject(pageTokens, list, { ...page, items: page.items.map(entryBody) }),
      };
    },

    async getAuditHead() {
      const head = await findHead(database.read);
      if (!head) throw new Error('The end of the audit log is gone from the database.');
      return { status: 200, body: { number: head.number, hash: head.hash } };
    },
  };
}
