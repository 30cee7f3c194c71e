/** Formats accounts, members and keys for responses. */
import type { AccountSummary, Key } from '@switchyard/contract/account/account.ts';
import type { Member } from '@switchyard/contract/account/members.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { AccountsTable, KeysTable, MembersTable } from './schema.ts';

export function formatAccount(account: AccountsTable): AccountSummary {
  return { id: account.id, name: account.name, created_at: formatRfc3339(account.created_at) };
}

export function formatKey(key: KeysTable): Key {
  return {
    id: key.id,
    name: key.name,
    role: key.role,
    user_email: key.email,
    created_at: formatRfc3339(key.created_at),
    last_used_at: key.last_used_at === null ? null : formatRfc3339(key.last_used_at),
    created_by:
      key.created_by === null
        ? null
        : { key_id: key.created_by, user_email: key.created_by_email, invite: key.invite },
  };
}

export function formatMember(member: MembersTable): Member {
  return {
    id: member.id,
    email: member.email,
    name: member.name,
    role: member.role,
    pending_invite: member.joined_at === null,
    invite_expires_at: member.invite_expires_at === null ? null : formatRfc3339(member.invite_expires_at),
    created_at: formatRfc3339(member.created_at),
    updated_at: formatRfc3339(member.updated_at),
  };
}
