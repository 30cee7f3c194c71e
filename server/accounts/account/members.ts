/** Operations on members and their invites. */
import { canGrant, type Role } from '@switchyard/contract/roles.ts';
import type { KeyId, MemberId } from '@switchyard/contract/schemas/ids.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, forbidden, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { Caller, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { computeUpdateTime, requireUnchanged } from '../../platform/http/requests/conditional-writes.ts';
import { makeId } from '../../platform/random.ts';
import { lockCallerAccount, parseKinds, revokeExcessRights } from './access-changes.ts';
import { createInvite, encodeInvite, formatInviteUrl, NO_INVITE, type OpenInvite } from './invites.ts';
import * as store from './member-store.ts';
import { buildKeyByInvite } from './new-account.ts';
import { formatAccount, formatKey, formatMember } from './response-bodies.ts';
import { type MembersTable, normalizeEmail } from './schema.ts';
import { insertKey, listKeysByOwner, lockAccount } from './store.ts';

export const inviteMember: OperationHandler<'inviteMember'> = async (context, { caller, body, commit }) => {
  const { clock, random } = context;
  requireGrant(caller, body.role);
  const now = clock.now();
  const invite = createInvite(context, caller);
  const member: MembersTable = {
    id: makeId<MemberId>(random, 'mem'),
    account_id: caller.account,
    email: body.email,
    owner: normalizeEmail(body.email),
    name: body.name ?? '',
    role: body.role,
    joined_at: null,
    ...invite,
    created_at: now,
    updated_at: now,
  };
  return commit(async (tx) => {
    await lockCallerAccount(tx, caller);
    const keys = await listKeysByOwner(tx, caller.account, member.owner);
    const stronger = keys.find((key) => !canGrant(member.role, key.role));
    if (stronger) {
      throw badRequest(
        `role is ${quoteValue(member.role)}, but the key ${quoteValue(stronger.id)} of ${quoteValue(member.email)} has the role ${stronger.role}; revoke that key first, or give that role.`,
      );
    }
    if (!(await store.insertMember(tx, member)))
      throw badRequest(
        `email is ${quoteValue(member.email)}, which another member has; renew that invite instead.`,
      );
    return { status: 201, body: formatInvite(context, member, invite) };
  });
};

export const listMembers: OperationHandler<'listMembers'> = async (context, { caller, query }) =>
  respondWithList(context, {
    tokenScope: `members ${caller.account}`,
    query,
    queryRows: (page) => store.listMembers(context.database.read, caller.account, page),
    formatBodies: (rows) => rows.map(formatMember),
  });

export const getMember: OperationHandler<'getMember'> = async ({ database }, { caller, params }) => ({
  status: 200,
  body: formatMember(await store.getMember(database.read, caller.account, params.member_id)),
});

export const updateMember: OperationHandler<'updateMember'> = async (
  context,
  { caller, address, params, body, commit },
) => {
  const committed = await commit(async (tx) => {
    const member = await lockMember(tx, caller, params.member_id);
    requireUnchanged({ noun: `member ${quoteValue(member.email)}`, updatedAt: member.updated_at }, body);
    const changes = {
      role: body.role ?? member.role,
      name: body.name ?? member.name,
      updated_at: computeUpdateTime(context.clock.now(), member),
    };
    requireGrant(caller, changes.role);
    if (changes.role !== member.role) {
      const kinds = { keep: body.keep ?? [], revoke: body.revoke ?? [] };
      const change = { role: changes.role, ...kinds, by: { caller, address } };
      await revokeExcessRights(tx, context, member, change);
    }
    await store.updateMember(tx, member.id, changes);
    return { status: 200, body: formatMember(await store.getMember(tx, caller.account, member.id)) };
  });
  context.database.notify('workers-changed');
  return committed;
};

export const deleteMember: OperationHandler<'deleteMember'> = async (
  context,
  { caller, address, params, query, commit },
) => {
  const kinds = { keep: parseKinds(query.keep), revoke: parseKinds(query.revoke) };
  const committed = await commit(async (tx) => {
    const member = await lockMember(tx, caller, params.member_id);
    await revokeExcessRights(tx, context, member, { role: null, ...kinds, by: { caller, address } });
    await context.deletePrivateViews(tx, caller.account, member.owner);
    await store.deleteMember(tx, member, context.clock.now());
    return { status: 204 };
  });
  context.database.notify('workers-changed');
  return committed;
};

export const renewInvite: OperationHandler<'renewInvite'> = async (context, { caller, params, commit }) =>
  commit(async (tx) => {
    const member = await lockMember(tx, caller, params.member_id);
    const invite = createInvite(context, caller);
    const changes = { ...invite, updated_at: context.clock.now() };
    await store.updateMember(tx, member.id, changes);
    return { status: 201, body: formatInvite(context, { ...member, ...changes }, invite) };
  });

export const acceptInvite: OperationHandler<'acceptInvite'> = async (
  { tokens, invites, clock, random },
  { body, commit, setOwner },
) => {
  const { account: id, inviteId } = invites.decode(body.invite);
  return commit(async (tx) => {
    const account = await lockAccount(tx, id);
    const member = account && (await store.findMemberByInvite(tx, id, inviteId));
    if (!member) {
      throw forbidden(
        'The invite was used already, replaced by another or withdrawn; ask the person who invited you for a new one.',
      );
    }
    const now = clock.now();
    const key = buildKeyByInvite(member, makeId<KeyId>(random, 'key'), now);
    const inviter = {
      ...(member.invited_by === null ? {} : { invited_by: member.invited_by }),
      ...(member.invited_by_key === null ? {} : { invited_by_key_id: member.invited_by_key }),
    };
    setOwner({ account: id, resource: inviter });
    const changes = {
      name: body.name ?? member.name,
      joined_at: member.joined_at ?? now,
      ...NO_INVITE,
      updated_at: now,
    };
    await insertKey(tx, key);
    await store.updateMember(tx, member.id, changes);
    const token = await tokens.sign({ key: key.id, account: id, role: key.role });
    return {
      status: 201,
      body: {
        account: formatAccount(account),
        member: formatMember({ ...member, ...changes }),
        key: formatKey(key),
        token,
      },
    };
  });
};

/** Formats the member with the text and the link of its open invite, which no later response repeats. */
function formatInvite(
  { invites, publicUrl }: Pick<Context, 'invites' | 'publicUrl'>,
  member: MembersTable,
  open: OpenInvite,
) {
  const invite = encodeInvite(invites, member, open);
  const invite_url = formatInviteUrl({ invites, publicUrl }, member, open);
  return { ...formatMember(member), invite, invite_url };
}

/** Locks the account of the caller and returns the member. Throws a 403 for a member with more rights than the caller. */
async function lockMember(tx: Writer, caller: Caller, id: MemberId): Promise<MembersTable> {
  await lockCallerAccount(tx, caller);
  const member = await store.getMember(tx, caller.account, id);
  if (canGrant(caller.role, member.role)) return member;
  throw forbidden(
    `The member ${quoteValue(member.email)} has the role ${member.role}; your role ${caller.role} may not change that.`,
  );
}

/** Throws a 403 for a role with more rights than the caller. */
function requireGrant(caller: Caller, role: Role): void {
  if (canGrant(caller.role, role)) return;
  throw forbidden(
    `role is ${quoteValue(role)}, which has rights the role ${caller.role} of your key does not have.`,
  );
}
