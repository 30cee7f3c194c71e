/** Formats audit entries for responses. Their hash is that of this form, so that any caller can check it. Pure. */
import type { AuditEntry } from '@switchyard/contract/account/audit.ts';
import type { AccountId, EntryId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../clock.ts';
import { makeId, type Random } from '../random.ts';
import type { AuditEntriesTable } from './schema.ts';
import type { NewEntry } from './store.ts';

/** Returns a row as the API shows it. */
export function formatEntry(row: Omit<AuditEntriesTable, 'seq' | 'application_id'>): AuditEntry {
  return {
    number: row.number,
    id: row.id,
    created_at: formatRfc3339(row.created_at),
    account_id: row.account_id,
    key_id: row.key_id,
    key_name: row.key_name,
    role: row.role,
    user_email: row.user_email,
    operation: row.operation,
    outcome: row.outcome,
    resource: JSON.parse(row.resource) as Record<string, string>,
    request_id: row.request_id,
    address: row.address,
    previous_hash: row.previous_hash,
    hash: row.hash,
  };
}

/** Returns the entry of an action that the server takes without a request. */
export function systemEntry(
  { random, now }: { random: Random; now: number },
  operation: string,
  account: AccountId,
  resource: Record<string, string>,
): NewEntry {
  return {
    id: makeId<EntryId>(random, 'entry'),
    created_at: now,
    account_id: account,
    application_id: null,
    key_id: null,
    key_name: null,
    role: null,
    user_email: null,
    operation,
    outcome: 'done',
    resource: JSON.stringify(resource),
    request_id: null,
    address: null,
  };
}
