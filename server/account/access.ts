/**
 * Changes of who may do what in an account. They go one after the other: each holds the account first, then looks at
 * members and keys, so that of two admins who remove each other at once one stays.
 *
 * What must stay true: no key does more than the member it names, and somebody can always manage the account.
 */
import type { AccountId, KeyId, MemberId } from '@switchyard/contract/ids.ts';
import { hasRight, mayGrant, ROLES, type Role, rolesWith } from '@switchyard/contract/roles.ts';
import type { Writer } from '../database/database.ts';
import type { Caller } from '../http/handler.ts';
import { badRequest, shown, unauthorized } from '../http/problem.ts';
import { closeInvitesBy, listJoinedWith } from './member-store.ts';
import { missingRole } from './rules.ts';
import type { AccountsTable, KeysTable, MembersTable } from './schema.ts';
import { deleteKeys, findKey, listKeysOf, listKeysWith, lockAccount } from './store.ts';

/**
 * The caller's account and key, the account held until the transaction is over. A caller whose key was revoked since the request was let in
 * is stopped here, or what it still does would outlive it.
 */
export async function holdAccount(
  tx: Writer,
  caller: Caller,
): Promise<{ account: AccountsTable; key: KeysTable }> {
  const account = await lockAccount(tx, caller.account);
  const key = account && (await findKey(tx, caller.key));
  if (!account || key?.role !== caller.role) throw unauthorized('The key was revoked meanwhile.');
  return { account, key };
}

/** Throws the 400 when without these keys nobody could manage the account any more. */
export async function keepManageable(
  tx: Writer,
  account: AccountId,
  gone: readonly KeyId[],
  sentence: (missing: Role) => string,
): Promise<void> {
  const before = await listKeysWith(tx, account, rolesWith('account'));
  const missing = missingRole(
    before.map((key) => key.role),
    before.filter((key) => !gone.includes(key.id)).map((key) => key.role),
  );
  if (missing) throw badRequest(sentence(missing));
}

/**
 * Takes from the member what `role` does not have, at once: keys that may do more, and open invites that it could not
 * have made. null: the member goes, and takes everything along.
 */
export async function takeRights(tx: Writer, member: MembersTable, role: Role | null): Promise<void> {
  const { account_id: account, email } = member;
  await keepManaging(tx, member, role);
  const keys = await listKeysOf(tx, account, member.owner);
  const gone = keys.filter((key) => role === null || !mayGrant(role, key.role)).map((key) => key.id);
  await keepManageable(
    tx,
    account,
    gone,
    (missing) =>
      `Among the keys of the member ${shown(email)}, which would be revoked, is the last ${missing} key of the account; make another one for somebody else first.`,
  );
  await deleteKeys(tx, gone);
  const left = role === null || !hasRight(role, 'account') ? [] : ROLES.filter((one) => mayGrant(role, one));
  await closeInvitesBy(tx, account, member.owner, left);
}

async function keepManaging(tx: Writer, member: MembersTable, role: Role | null): Promise<void> {
  const before = await listJoinedWith(tx, member.account_id, rolesWith('account'));
  const others: { id: MemberId; role: Role }[] = before.filter((one) => one.id !== member.id);
  const after = role === null || member.joined_at === null ? others : [...others, { id: member.id, role }];
  const missing = missingRole(
    before.map((one) => one.role),
    after.map((one) => one.role),
  );
  if (missing) {
    throw badRequest(
      `The member ${shown(member.email)} is the last ${missing} of the account who has come in; give somebody else that role first.`,
    );
  }
}
