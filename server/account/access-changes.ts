/**
 * Changes of rights in an account. Each locks the account before it reads members and keys: of two admins who remove each
 * other at the same time, one stays.
 *
 * Invariants: no key has more rights than its member, and at least one key and one member can manage the account.
 */

import { MEMBER_KEYS_MAX } from '@switchyard/contract/limits.ts';
import { canGrant, hasRight, ROLES, type Role, rolesWithRight } from '@switchyard/contract/roles.ts';
import type { AccountId, KeyId, MemberId } from '@switchyard/contract/schemas/ids.ts';
import type { Writer } from '../database/database.ts';
import { badRequest, notFound, quoteValue, unauthorized } from '../http/errors/problem.ts';
import type { Context } from '../http/handlers/context.ts';
import type { Caller } from '../http/handlers/handler.ts';
import { findMemberByOwner, listJoinedMembersByRole, revokeInvitesBy } from './member-store.ts';
import { findMissingRole } from './required-roles.ts';
import type { AccountsTable, KeysTable, MembersTable } from './schema.ts';
import {
  countKeysByOwner,
  deleteKeys,
  deleteKeysAndMembers,
  findKey,
  listKeysByOwner,
  listKeysByRole,
  lockAccount,
  updateAccount,
} from './store.ts';

/**
 * Locks the account of the caller until the transaction ends; returns the account and the key of the caller. Throws a 401
 * when the key was revoked after authentication: the change would otherwise outlive the key.
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

/** Throws a 400, with the message for the missing role, when the account cannot be managed without the revoked keys. */
export async function requireManageable(
  tx: Writer,
  account: AccountId,
  revoked: readonly KeyId[],
  formatMessage: (missing: Role) => string,
): Promise<void> {
  const before = await listKeysByRole(tx, account, rolesWithRight('account'));
  const missing = findMissingRole(
    before.map((key) => key.role),
    before.filter((key) => !revoked.includes(key.id)).map((key) => key.role),
  );
  if (missing) throw badRequest(formatMessage(missing));
}

/** Throws a 400 when the owner of a new key is a member with fewer rights, or has MEMBER_KEYS_MAX keys. */
export async function requireKeyOwner(
  tx: Writer,
  key: Pick<KeysTable, 'account_id' | 'owner' | 'email' | 'role'>,
): Promise<void> {
  const member = await findMemberByOwner(tx, key.account_id, key.owner);
  if (member && !canGrant(member.role, key.role)) {
    throw badRequest(
      `role is ${quoteValue(key.role)}, which has rights that the member ${quoteValue(member.email)} with the role ${member.role} does not have; change the role of the member first.`,
    );
  }
  if ((await countKeysByOwner(tx, key.account_id, key.owner)) >= MEMBER_KEYS_MAX) {
    throw badRequest(
      `${quoteValue(key.email)} has ${MEMBER_KEYS_MAX} keys, the most that one may have; revoke one first.`,
    );
  }
}

/**
 * Revokes the keys of the member that have more rights than `role`, and the member's open invites that `role` could not
 * have created. With null for a removed member, it revokes all of them. Throws a 400 when nobody could manage the account.
 */
export async function revokeExcessRights(tx: Writer, member: MembersTable, role: Role | null): Promise<void> {
  const { account_id: account, email } = member;
  await requireManager(tx, member, role);
  const keys = await listKeysByOwner(tx, account, member.owner);
  const revoked = keys.filter((key) => role === null || !canGrant(role, key.role)).map((key) => key.id);
  await requireManageable(
    tx,
    account,
    revoked,
    (missing) =>
      `The keys of the member ${quoteValue(email)} include the last ${missing} key of the account; create another one for another member first.`,
  );
  await deleteKeys(tx, revoked);
  const grantable =
    role === null || !hasRight(role, 'account') ? [] : ROLES.filter((one) => canGrant(role, one));
  await revokeInvitesBy(tx, account, member.owner, grantable);
}

/** Throws a 400 when the change of the member's role (null: removal) leaves no joined member who can manage the account. */
async function requireManager(tx: Writer, member: MembersTable, role: Role | null): Promise<void> {
  const before = await listJoinedMembersByRole(tx, member.account_id, rolesWithRight('account'));
  const others: { id: MemberId; role: Role }[] = before.filter((one) => one.id !== member.id);
  const after = role === null || member.joined_at === null ? others : [...others, { id: member.id, role }];
  const missing = findMissingRole(
    before.map((one) => one.role),
    after.map((one) => one.role),
  );
  if (missing) {
    throw badRequest(
      `The member ${quoteValue(member.email)} is the last ${missing} of the account who has joined; give another member that role first.`,
    );
  }
}

/**
 * Marks the account and everything that it owns as deleted. Throws a 400 for the account of the caller, named by the request
 * field, and a 404 for a missing one. The caller wakes the clean-up with `onApplicationDeleted` after the commit.
 */
export async function markAccountDeleted(
  { clock, deleteOwned }: Pick<Context, 'clock' | 'deleteOwned'>,
  tx: Writer,
  caller: Caller,
  { field, id }: { field: string; id: AccountId },
): Promise<void> {
  if (id === caller.account)
    throw badRequest(`${field} is ${quoteValue(id)}, the account of your own key; it must be another one.`);
  const account = await lockAccount(tx, id);
  if (!account) throw notFound(`There is no account ${quoteValue(id)}.`);
  const now = clock.now();
  await updateAccount(tx, account.id, { deleted_at: now });
  await deleteKeysAndMembers(tx, account.id);
  await deleteOwned(tx, account.id, now);
}
