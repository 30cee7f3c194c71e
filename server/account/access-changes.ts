/**
 * Changes of who may do what in an account. They go one after the other: each holds the account first, then looks at
 * members and keys, so that of two admins who remove each other at once one stays.
 *
 * What must stay true: no key does more than the member it names, and somebody can always manage the account.
 */

import { canGrant, hasRight, ROLES, type Role, rolesWithRight } from '@switchyard/contract/roles.ts';
import type { AccountId, KeyId, MemberId } from '@switchyard/contract/schemas/ids.ts';
import type { Writer } from '../database/database.ts';
import { badRequest, quoteValue, unauthorized } from '../http/errors/problem.ts';
import type { Caller } from '../http/handlers/handler.ts';
import { listJoinedMembersByRole, revokeInvitesBy } from './member-store.ts';
import { findMissingRole } from './required-roles.ts';
import type { AccountsTable, KeysTable, MembersTable } from './schema.ts';
import { deleteKeys, findKey, listKeysByOwner, listKeysByRole, lockAccount } from './store.ts';

/**
 * The caller's account and key, the account held until the transaction is over. A caller whose key was revoked since the request was let in
 * is stopped here, or what it still does would outlive it.
 */
export async function lockCallerAccount(
  tx: Writer,
  caller: Caller,
): Promise<{ account: AccountsTable; key: KeysTable }> {
  const account = await lockAccount(tx, caller.account);
  const key = account && (await findKey(tx, caller.key));
  if (!account || key?.role !== caller.role) throw unauthorized('The key was revoked meanwhile.');
  return { account, key };
}

/** Throws the 400 when without these keys nobody could manage the account any more. */
export async function requireManageable(
  tx: Writer,
  account: AccountId,
  gone: readonly KeyId[],
  sentence: (missing: Role) => string,
): Promise<void> {
  const before = await listKeysByRole(tx, account, rolesWithRight('account'));
  const missing = findMissingRole(
    before.map((key) => key.role),
    before.filter((key) => !gone.includes(key.id)).map((key) => key.role),
  );
  if (missing) throw badRequest(sentence(missing));
}

/**
 * Takes from the member what `role` does not have, at once: keys that may do more, and open invites that it could not
 * have made. null: the member goes, and takes everything along.
 */
export async function revokeExcessRights(tx: Writer, member: MembersTable, role: Role | null): Promise<void> {
  const { account_id: account, email } = member;
  await keepManaging(tx, member, role);
  const keys = await listKeysByOwner(tx, account, member.owner);
  const gone = keys.filter((key) => role === null || !canGrant(role, key.role)).map((key) => key.id);
  await requireManageable(
    tx,
    account,
    gone,
    (missing) =>
      `Among the keys of the member ${quoteValue(email)}, which would be revoked, is the last ${missing} key of the account; make another one for somebody else first.`,
  );
  await deleteKeys(tx, gone);
  const left = role === null || !hasRight(role, 'account') ? [] : ROLES.filter((one) => canGrant(role, one));
  await revokeInvitesBy(tx, account, member.owner, left);
}

async function keepManaging(tx: Writer, member: MembersTable, role: Role | null): Promise<void> {
  const before = await listJoinedMembersByRole(tx, member.account_id, rolesWithRight('account'));
  const others: { id: MemberId; role: Role }[] = before.filter((one) => one.id !== member.id);
  const after = role === null || member.joined_at === null ? others : [...others, { id: member.id, role }];
  const missing = findMissingRole(
    before.map((one) => one.role),
    after.map((one) => one.role),
  );
  if (missing) {
    throw badRequest(
      `The member ${quoteValue(member.email)} is the last ${missing} of the account who has come in; give somebody else that role first.`,
    );
  }
}
