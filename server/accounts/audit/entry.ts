/** Formats audit entries for responses. Their hash is that of this form, so that any caller can check it. Pure. */
import type { AuditEntry } from '@switchyard/contract/account/audit.ts';
import type { OperationId } from '@switchyard/contract/operations.ts';
import type { AccountId, EntryId } from '@switchyard/contract/schemas/ids.ts';
import Type from 'typebox';
import { formatRfc3339 } from '../../platform/clock.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import { makeId, type Random } from '../../platform/random.ts';
import type { AuditEntriesTable } from './schema.ts';
import type { NewEntry } from './store.ts';

export const parseResource = parseColumn(
  'audit_entries',
  'id',
  'resource',
  Type.Record(Type.String(), Type.String()),
);

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
    resource: parseResource(row),
    request_id: row.request_id,
    address: row.address,
    previous_hash: row.previous_hash,
    hash: row.hash,
  };
}

/** The person behind a request, for entries of its further effects. */
export interface Actor {
  caller: Pick<Caller, 'key' | 'name' | 'role' | 'email'>;
  address: string;
}

/**
 * Returns the entry of a further effect of a request, such as a worker token that was revoked with its member. Without an
 * actor it is an action of the server itself.
 */
export function effectEntry(
  parts: { random: Random; now: number; by: Actor | null },
  operation: OperationId,
  account: AccountId,
  resource: Record<string, string>,
): NewEntry {
  const entry = systemEntry(parts, operation, account, resource);
  const application_id = resource.application_id ?? null;
  if (!parts.by) return { ...entry, application_id };
  const { caller, address } = parts.by;
  return {
    ...entry,
    ...{ application_id, address },
    ...{ key_id: caller.key, key_name: caller.name, role: caller.role, user_email: caller.email },
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
