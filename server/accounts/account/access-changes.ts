/**
 * Changes of rights in an account. Each locks the account before it reads members and keys: of two admins who remove each
 * other at the same time, one stays.
 *
 * Invariants: no key has more rights than its member, and at least one key and one member can manage the account. Things
 * that a removed member or a revoked key has made end with it, unless the caller keeps them.
 */
import {
  INVENTORY_KINDS,
  type InventoryKind,
  KEEP_ALL,
  listLostKinds,
  listRevokedKinds,
} from '@switchyard/contract/account/inventory.ts';
import { MEMBER_KEYS_MAX } from '@switchyard/contract/limits.ts';
import type { OperationId } from '@switchyard/contract/operations.ts';
import { canGrant, hasRight, ROLES, type Role, rolesWithRight } from '@switchyard/contract/roles.ts';
import type { AccountId, KeyId, MemberId } from '@switchyard/contract/schemas/ids.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, notFound, quoteValue, unauthorized } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import { type Actor, effectEntry } from '../audit/entry.ts';
import { insertEntry } from '../audit/store.ts';
import { findMemberByOwner, listJoinedMembersByRole, revokeInvitesBy } from './member-store.ts';
import { type AccountsTable, type KeysTable, type MembersTable, normalizeEmail } from './schema.ts';
import {
  countKeysByOwner,
  deleteKeys,
  deleteKeysAndMembers,
  findKey,
  listAccountKeys,
  listKeysByRole,
  lockAccount,
  managesServer,
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

/**
 * Locks the account of the caller like `lockCallerAccount`, for a caller that may also be a run. An operation that creates
 * something that works without its maker calls this first: the maker could be removed at the same moment.
 */
export async function lockMakerAccount(tx: Writer, caller: Caller): Promise<void> {
  if (!caller.run) await lockCallerAccount(tx, caller);
  else if (!(await lockAccount(tx, caller.account))) throw unauthorized('The account was deleted meanwhile.');
}

/** Throws a 400, with the message for the missing role, when the account cannot be managed without the revoked keys. */
async function requireManageable(
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

/** The author of things in an inventory: a member by their address, and keys. */
export interface Author {
  account: AccountId;
  /** The address after `normalizeEmail`; null for keys without their member. */
  owner: string | null;
  keys: readonly KeyId[];
}

/** A revoked thing, as the audit log names it. */
export interface Revoked {
  operation: OperationId;
  resource: Record<string, string>;
}

/** The kinds of things to revoke. `allAccountsTokens` includes the worker tokens that serve every account. */
export interface RevokedKinds {
  kinds: readonly InventoryKind[];
  allAccountsTokens: boolean;
}

/** The services that a revocation needs. */
export type RevocationParts = Pick<Context, 'clock' | 'random' | 'revokeMade'>;

/** Returns the kinds in a field of a query, whose pattern allows no other words. */
export function parseKinds(text = ''): InventoryKind[] {
  const words = text.split(',');
  return INVENTORY_KINDS.filter((kind) => text === KEEP_ALL || words.includes(kind));
}

/** A change of rights that revokes. */
interface RightsChange {
  /** The new role; null for a removed member. */
  role: Role | null;
  /** Kinds of the inventory that stay. */
  keep: readonly InventoryKind[];
  /** Kinds of the inventory that are revoked although they stay by default. */
  revoke: readonly InventoryKind[];
  /** null for a change by the identity provider. */
  by: Actor | null;
}

/**
 * Revokes everything of the member that goes beyond `role`: stronger keys, open invites, and the things in their inventory
 * that they can no longer make. Throws a 400 when nobody could manage the account, and when the key of the request would
 * end too.
 */
export async function revokeExcessRights(
  tx: Writer,
  parts: RevocationParts,
  member: MembersTable,
  { role, keep, revoke, by }: RightsChange,
): Promise<void> {
  const { account_id: account, email, owner } = member;
  await requireManager(tx, member, role);
  const isExcess = (key: KeysTable): boolean => role === null || !canGrant(role, key.role);
  const canManage = role !== null && hasRight(role, 'account');
  const keys = await listAccountKeys(tx, account);
  const own = keys.filter((key) => key.owner === owner && isExcess(key));
  const kinds = listRevokedKinds(listLostKinds(member.role, role), { keep, revoke });
  const others = listKeysForOthers(keys, owner).filter(
    (key) =>
      kinds.includes('keys_for_others') || (canManage && isExcess(key) && !keep.includes('keys_for_others')),
  );
  const invited = kinds.includes('invited_keys') ? listInvitedKeys(keys, owner) : [];
  const ended = [...new Set([...others, ...invited])];
  const revoked = [...own, ...ended].map((key) => key.id);
  await requireManageable(
    tx,
    account,
    revoked,
    (missing) =>
      `The keys of the member ${quoteValue(email)}, and those that they created, include the last ${missing} key of the account; create another one for another member first, or keep keys_for_others.`,
  );
  requireOwnKey(by, ended, `the member ${quoteValue(email)}`);
  const grantable = canManage ? ROLES.filter((one) => canGrant(role, one)) : [];
  const author = { account, owner, keys: revoked };
  // Before the keys, because an invite of a deleted key names the parent of that key.
  await revokeInvitesBy(tx, author, grantable);
  await deleteKeys(tx, revoked);
  const allAccountsTokens =
    hasRight(member.role, 'server') &&
    !keep.includes('worker_tokens') &&
    !(role !== null && (await managesServer(tx, role)));
  const made = await parts.revokeMade(tx, author, { kinds, allAccountsTokens });
  await auditRevoked(tx, parts, { account, by, resource: { member_id: member.id } }, [
    ...revoked.map(describeRevokedKey),
    ...made,
  ]);
}

/**
 * Revokes a key with everything that was made with it or with its descendants; without `cascade`, the key alone. The first
 * keys of invited members stay unless `revoke` names them. Throws a when nobody could manage the account, and when the key of the request would end too.
 */
export async function revokeKeyTree(
  tx: Writer,
  parts: RevocationParts,
  key: KeysTable,
  { cascade, revoke, by }: { cascade: boolean; revoke: readonly InventoryKind[]; by: Actor },
): Promise<void> {
  const account = key.account_id;
  const kinds = cascade ? listRevokedKinds(INVENTORY_KINDS, { keep: [], revoke }) : [];
  const isInvitedToo = kinds.includes('invited_keys');
  const descendants = cascade
    ? listDescendants(await listAccountKeys(tx, account), [key.id], isInvitedToo)
    : [];
  const revoked = [key, ...descendants].map((one) => one.id);
  await requireManageable(tx, account, revoked, (missing) =>
    revoked.length === 1
      ? `The key ${quoteValue(key.id)} is the last ${missing} key of the account; create another one first.`
      : `The key ${quoteValue(key.id)} and the keys that it created include the last ${missing} key of the account; create another one with a remaining key first, or revoke it with cascade=false.`,
  );
  requireOwnKey(by, descendants, `the key ${quoteValue(key.id)}`);
  const author = { account, owner: null, keys: revoked };
  if (cascade) await revokeInvitesBy(tx, author, []);
  await deleteKeys(tx, revoked);
  const made = await parts.revokeMade(tx, author, { kinds, allAccountsTokens: cascade });
  await auditRevoked(tx, parts, { account, by, resource: { ancestor_key_id: key.id } }, [
    ...descendants.map((one) => describeRevokedKey(one.id)),
    ...made,
  ]);
}

const describeRevokedKey = (id: KeyId): Revoked => ({ operation: 'revokeKey', resource: { key_id: id } });

async function auditRevoked(
  tx: Writer,
  { clock, random }: Pick<Context, 'clock' | 'random'>,
  change: { account: AccountId; by: Actor | null; resource: Record<string, string> },
  revoked: readonly Revoked[],
): Promise<void> {
  const parts = { random, now: clock.now(), by: change.by };
  for (const { operation, resource } of revoked)
    await insertEntry(tx, effectEntry(parts, operation, change.account, { ...resource, ...change.resource }));
}

/** Throws a 400 when the key of the request is one of those that end with something else. */
function requireOwnKey(by: Actor | null, ended: readonly KeysTable[], creator: string): void {
  if (!by || !ended.some((key) => key.id === by.caller.key)) return;
  throw badRequest(
    `The key of the request was created through ${creator} and would end too. Make the request with another key, or keep what ${creator} created.`,
  );
}

/**
 * Returns the keys that descend from the roots, without them: the keys that those created, and so on. The first keys of
 * invited members, and what those created, are included only with `isInvitedToo`.
 */
function listDescendants(
  keys: readonly KeysTable[],
  roots: readonly KeyId[],
  isInvitedToo = false,
): KeysTable[] {
  const found = new Set(roots);
  const descendants: KeysTable[] = [];
  const children = Map.groupBy(keys, (key) => key.descends_from);
  // A set returns also what is added while it is read.
  for (const id of found)
    for (const child of children.get(id) ?? []) {
      if (found.has(child.id) || (child.invite === 'first' && !isInvitedToo)) continue;
      found.add(child.id);
      descendants.push(child);
    }
  return descendants;
}

/** Returns the keys of other owners that the member created, also with a key that was revoked since, and their descendants. */
function listKeysMadeBy(keys: readonly KeysTable[], owner: string, isInvitedToo: boolean): KeysTable[] {
  const created = keys.filter(
    (key) => normalizeEmail(key.created_by_email) === owner && (key.invite !== 'first' || isInvitedToo),
  );
  const own = keys.filter((key) => key.owner === owner);
  const roots = new Set([...own, ...created].map((key) => key.id));
  const made = [...created, ...listDescendants(keys, [...roots], isInvitedToo)];
  return made.filter((key) => key.owner !== owner);
}

/** Returns the keys of other owners that the member created, and their descendants, without the keys of invited members. */
export function listKeysForOthers(keys: readonly KeysTable[], owner: string): KeysTable[] {
  return listKeysMadeBy(keys, owner, false);
}

/** Returns the first keys of the members whom the member invited, and their descendants. */
export function listInvitedKeys(keys: readonly KeysTable[], owner: string): KeysTable[] {
  const others = new Set(listKeysForOthers(keys, owner));
  return listKeysMadeBy(keys, owner, true).filter((key) => !others.has(key));
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

/**
 * Returns the required role that a change removes from an account, or null. Required are root, where the account had one,
 * and any role that can manage the account, reported as admin.
 */
function findMissingRole(before: readonly Role[], after: readonly Role[]): Role | null {
  if (before.includes('root') && !after.includes('root')) return 'root';
  const canManage = (role: Role): boolean => hasRight(role, 'account');
  return before.some(canManage) && !after.some(canManage) ? 'admin' : null;
}
