/** Operations on organisations: accounts and their members in the form of the published client. */
import type { Organization, OrganizationMember } from '@switchyard/contract/account/organizations.ts';
import { hasRight } from '@switchyard/contract/roles.ts';
import type { AccountId, MemberId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { badRequest, notFound, orThrow, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Caller, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { makeId } from '../../platform/random.ts';
import { lockCallerAccount, markAccountDeleted } from '../account/access-changes.ts';
import { createInvite, formatInviteUrl } from '../account/invites.ts';
import { insertMember, listMembers } from '../account/member-store.ts';
import { buildAccount } from '../account/new-account.ts';
import { type AccountsTable, type MembersTable, normalizeEmail } from '../account/schema.ts';
import { requireSignUp } from '../account/sign-up.ts';
import { findAccount, insertAccount, lockAccount, updateAccount } from '../account/store.ts';

/** All rows, without paging: the client reads the members in one response. */
const ALL_MEMBERS = { limit: null, after: null } as const;

export const createOrganization: OperationHandler<'createOrganization'> = async (
  context,
  { caller, headers, body, commit },
) => {
  const { clock, random, signUp } = context;
  requireSignUp(signUp, caller, headers);
  const now = clock.now();
  const account = buildAccount(random, now, body.name);
  const invited = body.admins.map((email) => {
    const invite = createInvite(context, caller);
    const member: MembersTable = {
      ...{ id: makeId<MemberId>(random, 'mem'), account_id: account.id, email, owner: normalizeEmail(email) },
      ...{ name: '', role: 'admin', joined_at: null, created_at: now, updated_at: now },
      ...invite,
    };
    return { member, url: formatInviteUrl(context, member, invite) };
  });
  return commit(async (tx) => {
    await insertAccount(tx, account);
    for (const { member } of invited) {
      if (await insertMember(tx, member)) continue;
      throw badRequest(`admins has ${quoteValue(member.email)} twice; name each address once.`);
    }
    const members = invited.map(({ member, url }) => ({ ...formatPerson(member), invite_url: url }));
    return { status: 201, body: { id: account.id, name: account.name, members } };
  });
};

export const getOrganization: OperationHandler<'getOrganization'> = async (
  { database },
  { caller, params },
) => {
  const id = requireVisible(caller, params.organization_id);
  const account = orThrow(await findAccount(database.read, id), () => organizationNotFound(id));
  return { status: 200, body: await formatOrganization(database.read, account) };
};

export const updateOrganization: OperationHandler<'updateOrganization'> = async (
  _context,
  { caller, params, body, commit },
) => {
  const id = requireVisible(caller, params.organization_id);
  return commit(async (tx) => {
    const account =
      id === caller.account
        ? (await lockCallerAccount(tx, caller)).account
        : orThrow(await lockAccount(tx, id), () => organizationNotFound(id));
    const name = body.name ?? account.name;
    await updateAccount(tx, id, { name });
    return { status: 200, body: await formatOrganization(tx, { ...account, name }) };
  });
};

export const deleteOrganization: OperationHandler<'deleteOrganization'> = async (
  context,
  { caller, params, commit },
) => {
  const committed = await commit(async (tx) => {
    await markAccountDeleted(context, tx, caller, { field: 'organization_id', id: params.organization_id });
    return { status: 204 };
  });
  context.onApplicationDeleted();
  return committed;
};

/** Returns the id. Throws a 404 for another account than the caller's, except for a role that manages all accounts. */
function requireVisible(caller: Caller, id: AccountId): AccountId {
  if (id === caller.account || hasRight(caller.role, 'server')) return id;
  throw organizationNotFound(id);
}

function organizationNotFound(id: AccountId) {
  return notFound(`There is no organisation ${quoteValue(id)} that your key may see.`);
}

async function formatOrganization(db: Reader | Writer, { id, name }: AccountsTable): Promise<Organization> {
  const members = await listMembers(db, id, ALL_MEMBERS);
  return { id, name, members: members.map(formatPerson) };
}

function formatPerson({ email, role, joined_at }: MembersTable): OrganizationMember {
  return { email, role: role === 'unassigned' ? null : role, pending_invite: joined_at === null };
}
