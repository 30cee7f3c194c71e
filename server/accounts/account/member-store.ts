/** Statements on members and their invites. */
import type { Role } from '@switchyard/contract/roles.ts';
import type { AccountId, KeyId, MemberId } from '@switchyard/contract/schemas/ids.ts';
import type { ExpressionBuilder } from 'kysely';
import type { Reader, Tables, Writer } from '../../platform/database/database.ts';
import { isAfter } from '../../platform/database/list-order.ts';
import { notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { PageRequest } from '../../platform/http/lists/pagination.ts';
import { NO_INVITE } from './invites.ts';
import type { MembersTable } from './schema.ts';

/** Inserts the member, also one who was removed before; returns false when another member has the address. */
export async function insertMember(tx: Writer, member: MembersTable): Promise<boolean> {
  await tx
    .deleteFrom('removed_members')
    .where('account_id', '=', member.account_id)
    .where('owner', '=', member.owner)
    .execute();
  const result = await tx
    .insertInto('members')
    .values(member)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** Returns the member of the account; throws a 404 when it does not exist. */
export async function getMember(db: Reader, account: AccountId, id: MemberId): Promise<MembersTable> {
  const row = await db
    .selectFrom('members')
    .selectAll()
    .where('id', '=', id)
    .where('account_id', '=', account)
    .executeTakeFirst();
  if (!row) throw notFound(`There is no member ${quoteValue(id)}.`);
  return row;
}

export function findMemberByOwner(
  db: Reader,
  account: AccountId,
  owner: string,
): Promise<MembersTable | undefined> {
  return db
    .selectFrom('members')
    .selectAll()
    .where('account_id', '=', account)
    .where('owner', '=', owner)
    .executeTakeFirst();
}

/** Returns the member of an open invite; undefined when the invite was used, replaced or withdrawn. */
export function findMemberByInvite(
  tx: Writer,
  account: AccountId,
  inviteId: string,
): Promise<MembersTable | undefined> {
  return tx
    .selectFrom('members')
    .selectAll()
    .where('account_id', '=', account)
    .where('invite_id', '=', inviteId)
    .executeTakeFirst();
}

/** Lists members, newest first; one row more than the limit shows that more follow. */
export function listMembers(db: Reader, account: AccountId, page: PageRequest): Promise<MembersTable[]> {
  let query = db
    .selectFrom('members')
    .selectAll()
    .where('account_id', '=', account)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  if (page.after) query = query.where(isAfter('members', page.after));
  if (page.limit !== null) query = query.limit(page.limit + 1);
  return query.execute();
}

/** Lists the members who have accepted an invite and have one of the roles. */
export function listJoinedMembersByRole(
  tx: Writer,
  account: AccountId,
  roles: readonly Role[],
): Promise<Pick<MembersTable, 'id' | 'role'>[]> {
  return tx
    .selectFrom('members')
    .select(['id', 'role'])
    .where('account_id', '=', account)
    .where('joined_at', 'is not', null)
    .where('role', 'in', roles)
    .execute();
}

export async function updateMember(tx: Writer, id: MemberId, changes: Partial<MembersTable>): Promise<void> {
  await tx.updateTable('members').set(changes).where('id', '=', id).execute();
}

/** Withdraws the open invites that the owner, or one of the keys, created, except those for the excepted roles. */
export async function revokeInvitesBy(
  tx: Writer,
  { account, owner, keys }: { account: AccountId; owner: string | null; keys: readonly KeyId[] },
  exceptRoles: readonly Role[],
): Promise<void> {
  const isInviter = (eb: ExpressionBuilder<Tables, 'members'>) =>
    eb.or([
      ...(owner === null ? [] : [eb('invited_by', '=', owner)]),
      ...(keys.length === 0 ? [] : [eb('invited_by_key', 'in', keys)]),
    ]);
  let query = tx.updateTable('members').set(NO_INVITE).where('account_id', '=', account).where(isInviter);
  if (exceptRoles.length > 0) query = query.where('role', 'not in', exceptRoles);
  await query.execute();
}

/** Deletes the member, and stores when the address was removed, in milliseconds since the epoch. */
export async function deleteMember(
  tx: Writer,
  { id, account_id, owner }: MembersTable,
  removedAt: number,
): Promise<void> {
  await tx.deleteFrom('members').where('id', '=', id).execute();
  await tx
    .insertInto('removed_members')
    .values({ account_id, owner, removed_at: removedAt })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns true for an address whose member was removed and not invited again. */
export async function isRemovedMember(db: Reader, account: AccountId, owner: string): Promise<boolean> {
  const row = await db
    .selectFrom('removed_members')
    .select('removed_at')
    .where('account_id', '=', account)
    .where('owner', '=', owner)
    .executeTakeFirst();
  return row !== undefined;
}
