/** The operations that read the audit log. No operation writes to it directly. */
import { ALL_ACCOUNTS } from '@switchyard/contract/account/audit.ts';
import { PAGE_ITEMS_MAX } from '@switchyard/contract/limits.ts';
import { hasRight, rolesWithRight } from '@switchyard/contract/roles.ts';
import { forbidden, quoteValue } from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { formatPage, parsePageRequest, slicePage } from '../../platform/http/lists/pagination.ts';
import { formatReadableRows } from '../../platform/http/lists/readable-rows.ts';
import { parseTimeWindow } from '../../platform/http/lists/time-window.ts';
import { formatEntry } from './entry.ts';
import { findHead, listEntries } from './store.ts';

/** Lists entries newest first: of the caller's account, or of any account for a caller with the right `server`. */
export const listAuditEntries: OperationHandler<'listAuditEntries'> = async (
  { database, pageTokens, clock, log },
  { caller, query },
) => {
  const account = query.account_id ?? caller.account;
  if (account !== caller.account && !hasRight(caller.role, 'server'))
    throw forbidden(
      `account_id is ${quoteValue(account)}; only ${rolesWithRight('server').join(' and ')} may see the entries of accounts other than their own; leave it out, or give your own, ${quoteValue(caller.account)}.`,
    );
  const filter = {
    account: account === ALL_ACCOUNTS ? null : account,
    key: query.key_id ?? null,
    operation: query.operation ?? null,
    application: query.resource ?? null,
  };
  const window = parseTimeWindow(query, clock.now());
  const list = `audit ${JSON.stringify([filter, query.start, query.end])}`;
  const { after, limit } = parsePageRequest(pageTokens, list, query);
  const request = { after, limit: limit ?? PAGE_ITEMS_MAX };
  const rows = await listEntries(database.read, filter, window, request);
  const page = slicePage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
  const items = await formatReadableRows(log, page.items, (entries) => entries.map(formatEntry));
  return {
    status: 200,
    body: formatPage(pageTokens, list, { ...page, items }),
  };
};

/** Returns the last entry of the chain, which a caller can store elsewhere as an anchor. */
export const getAuditHead: OperationHandler<'getAuditHead'> = async ({ database }) => {
  const head = await findHead(database.read);
  if (!head)
    throw new Error(
      'The head of the audit chain (table audit_head) is missing; restore the database from a backup.',
    );
  return { status: 200, body: { number: head.number, hash: head.hash } };
};
