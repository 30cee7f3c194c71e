/** The operations on members and their invites. */

import { INVITE_TTL_SECONDS } from '@switchyard/contract/limits.ts';
import { canGrant, type Role } from '@switchyard/contract/roles.ts';
import type { KeyId, MemberId } from '@switchyard/contract/schemas/ids.ts';
import type { Clock } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import { badRequest, forbidden, quoteValue } from '../http/errors/problem.ts';
import type { Caller, HandlersFor } from '../http/handlers/handler.ts';
import { respondWithList } from '../http/lists/list-responses.ts';
import type { PageTokens } from '../http/lists/pagination.ts';
import { makeId, type Random, randomText } from '../random.ts';
import { lockCallerAccount, revokeExcessRights } from './access-changes.ts';
import type { Invites } from './invites.ts';
import {
  deleteMember,
  findMemberByInvite,
  getMember,
  insertMember,
  listMembers,
  updateMember,
} from './member-store.ts';
import { buildFirstKey } from './new-account.ts';
import { formatAccount, formatKey, formatMember } from './response-bodies.ts';
import { type MembersTable, normalizeEmail } from './schema.ts';
import { insertKey, listKeysByOwner, lockAccount } from './store.ts';
import type { Tokens } from './tokens.ts';

interface Parts {
  database: Database;
  tokens: Tokens;
  invites: Invites;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
  /** Without a trailing slash; known once the server listens. */
  publicUrl(): string;
}

/** Characters of 5 bits: nobody guesses one. */
const INVITE_ID_CHARS = 26;

export function memberHandlers(
  parts: Parts,
): HandlersFor<
  | 'inviteMember'
  | 'listMembers'
  | 'getMember'
  | 'updateMember'
  | 'deleteMember'
  | 'renewInvite'
  | 'acceptInvite'
> {
  const { database, tokens, invites, pageTokens, clock, random } = parts;

  const newInvite = (caller: Caller) => ({
    invite_id: randomText(random, INVITE_ID_CHARS),
    invite_expires_at: clock.now() + INVITE_TTL_SECONDS * 1000,
    invited_by: normalizeEmail(caller.email),
  });
  const inviteBody = (member: MembersTable, open: ReturnType<typeof newInvite>) => {
    const invite = invites.encode({
      account: member.account_id,
      inviteId: open.invite_id,
      expiresAt: open.invite_expires_at,
    });
    const invite_url = `${parts.publicUrl()}/sign-up?${new URLSearchParams({ invite }).toString()}`;
    return { ...formatMember(member), invite, invite_url };
  };

  /** The member that the caller is about to change, with the account held. */
  const holdMember = async (tx: Writer, caller: Caller, id: MemberId): Promise<MembersTable> => {
    await lockCallerAccount(tx, caller);
    const member = await getMember(tx, caller.account, id);
    if (canGrant(caller.role, member.role)) return member;
    throw forbidden(
      `The member ${quoteValue(member.email)} has the role ${member.role}; your role ${caller.role} may not change that.`,
    );
  };

  return {
    async inviteMember({ caller, body, remember }) {
      refuseGrant(caller, body.role);
      const now = clock.now();
      const open = newInvite(caller);
      const member: MembersTable = {
        id: makeId<MemberId>(random, 'mem'),
        account_id: caller.account,
        email: body.email,
        owner: normalizeEmail(body.email),
        name: body.name ?? '',
        role: body.role,
        joined_at: null,
        ...open,
        created_at: now,
        updated_at: now,
      };
      const answer = { status: 201 as const, body: inviteBody(member, open) };
      await database.transact(async (tx) => {
        await remember(tx, answer);
        await lockCallerAccount(tx, caller);
        const keys = await listKeysByOwner(tx, caller.account, member.owner);
        const stronger = keys.find((key) => !canGrant(member.role, key.role));
        if (stronger) {
          throw badRequest(
            `role is ${quoteValue(member.role)}, but the key ${quoteValue(stronger.id)} of ${quoteValue(member.email)} has the role ${stronger.role}; revoke that key first, or give that role.`,
          );
        }
        if (await insertMember(tx, member)) return;
        throw badRequest(
          `email is ${quoteValue(member.email)}, which another member has; renew that invite instead.`,
        );
      });
      return answer;
    },

    async listMembers({ caller, query }) {
      return respondWithList(pageTokens, {
        tokenScope: `members ${caller.account}`,
        query,
        queryRows: (page) => listMembers(database.read, caller.account, page),
        formatBodies: (rows) => rows.map(formatMember),
      });
    },

    async getMember({ caller, params }) {
      return {
        status: 200,
        body: formatMember(await getMember(database.read, caller.account, params.member_id)),
      };
    },

    async updateMember({ caller, params, body }) {
      const changed = await database.transact(async (tx) => {
        const member = await holdMember(tx, caller, params.member_id);
        const changes = {
          role: body.role ?? member.role,
          name: body.name ?? member.name,
          updated_at: clock.now(),
        };
        refuseGrant(caller, changes.role);
        if (changes.role !== member.role) await revokeExcessRights(tx, member, changes.role);
        await updateMember(tx, member.id, changes);
        return getMember(tx, caller.account, member.id);
      });
      return { status: 200, body: formatMember(changed) };
    },

    async deleteMember({ caller, params }) {
      await database.transact(async (tx) => {
        const member = await holdMember(tx, caller, params.member_id);
        await revokeExcessRights(tx, member, null);
        await deleteMember(tx, member.id);
      });
      return { status: 204 };
    },

    async renewInvite({ caller, params, remember }) {
      return database.transact(async (tx) => {
        const member = await holdMember(tx, caller, params.member_id);
        const open = newInvite(caller);
        const changed = { ...member, ...open, updated_at: clock.now() };
        const answer = { status: 201 as const, body: inviteBody(changed, open) };
        await remember(tx, answer);
        await updateMember(tx, member.id, { ...open, updated_at: changed.updated_at });
        return answer;
      });
    },

    async acceptInvite({ body, remember }) {
      const { account: id, inviteId } = invites.decode(body.invite);
      return database.transact(async (tx) => {
        const account = await lockAccount(tx, id);
        const member = account && (await findMemberByInvite(tx, id, inviteId));
        if (!member) {
          throw forbidden(
            'The invite was used already, replaced by another or withdrawn; ask whoever invited you for a new one.',
          );
        }
        const now = clock.now();
        const first = buildFirstKey(member, makeId<KeyId>(random, 'key'), now);
        const key = member.joined_at === null ? first : { ...first, name: 'Key by invite' };
        const changes = {
          name: body.name ?? member.name,
          joined_at: member.joined_at ?? now,
          invite_id: null,
          invite_expires_at: null,
          invited_by: null,
          updated_at: now,
        };
        await insertKey(tx, key);
        await updateMember(tx, member.id, changes);
        const token = await tokens.sign({ key: key.id, account: id, role: key.role });
        const answer = {
          status: 201 as const,
          body: {
            account: formatAccount(account),
            member: formatMember({ ...member, ...changes }),
            key: formatKey(key),
            token,
          },
        };
        await remember(tx, answer);
        return answer;
      });
    },
  };
}

function refuseGrant(caller: Caller, role: Role): void {
  if (canGrant(caller.role, role)) return;
  throw forbidden(
    `role is ${quoteValue(role)}, which has rights the role ${caller.role} of your key does not have.`,
  );
}
