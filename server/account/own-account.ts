/** The operations on the account and its keys. */

import { MEMBER_KEYS_MAX } from '@switchyard/contract/limits.ts';
import { canGrant, hasRight } from '@switchyard/contract/roles.ts';
import type { KeyId } from '@switchyard/contract/schemas/ids.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { badRequest, forbidden, notFound, quoteValue } from '../http/errors/problem.ts';
import type { HandlersFor } from '../http/handlers/handler.ts';
import { respondWithList } from '../http/lists/list-responses.ts';
import type { PageTokens } from '../http/lists/pagination.ts';
import { makeId, type Random } from '../random.ts';
import { lockCallerAccount, requireManageable } from './access-changes.ts';
import { findMemberByOwner } from './member-store.ts';
import { formatAccount, formatKey } from './response-bodies.ts';
import { type KeysTable, normalizeEmail } from './schema.ts';
import {
  countKeysByOwner,
  deleteKeys,
  findAccount,
  findKey,
  insertKey,
  listDescendantKeys,
  listKeys,
  updateAccount,
} from './store.ts';
import type { Tokens } from './tokens.ts';

interface Parts {
  database: Database;
  tokens: Tokens;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
}

export function ownAccountHandlers(
  parts: Parts,
): HandlersFor<'getAccount' | 'updateAccount' | 'createKey' | 'listKeys' | 'revokeKey'> {
  const { database, tokens, pageTokens, clock, random } = parts;
  return {
    async getAccount({ caller }) {
      const account = await findAccount(database.read, caller.account);
      const key = await findKey(database.read, caller.key);
      if (!account || !key) throw notFound('The account is gone.');
      return { status: 200, body: { ...formatAccount(account), key: formatKey(key) } };
    },

    async updateAccount({ caller, body }) {
      const changed = await database.transact(async (tx) => {
        const { account, key } = await lockCallerAccount(tx, caller);
        const name = body.name ?? account.name;
        await updateAccount(tx, account.id, { name });
        return { ...formatAccount({ ...account, name }), key: formatKey(key) };
      });
      return { status: 200, body: changed };
    },

    async createKey({ caller, body, remember }) {
      if (!canGrant(caller.role, body.role)) {
        throw forbidden(
          `role is ${quoteValue(body.role)}, which has rights the role ${caller.role} of your key does not have.`,
        );
      }
      const email = body.user_email ?? caller.email;
      if (normalizeEmail(email) !== normalizeEmail(caller.email) && !hasRight(caller.role, 'account')) {
        throw forbidden(
          `user_email is ${quoteValue(email)}; the role ${caller.role} only makes keys for its own, ${quoteValue(caller.email)}.`,
        );
      }
      const key: KeysTable = {
        id: makeId<KeyId>(random, 'key'),
        account_id: caller.account,
        name: body.name,
        role: body.role,
        email,
        owner: normalizeEmail(email),
        created_by: caller.key,
        created_by_email: caller.email,
        descends_from: caller.key,
        created_at: clock.now(),
        last_used_at: null,
      };
      const token = await tokens.sign({ key: key.id, account: key.account_id, role: key.role });
      const answer = { status: 201 as const, body: { ...formatKey(key), token } };
      await database.transact(async (tx) => {
        await remember(tx, answer);
        await lockCallerAccount(tx, caller);
        const member = await findMemberByOwner(tx, caller.account, key.owner);
        if (member && !canGrant(member.role, key.role)) {
          throw badRequest(
            `role is ${quoteValue(key.role)}, which has rights that the member ${quoteValue(member.email)} with the role ${member.role} does not have; change the role of the member first.`,
          );
        }
        if ((await countKeysByOwner(tx, caller.account, key.owner)) >= MEMBER_KEYS_MAX) {
          throw badRequest(
            `${quoteValue(email)} has ${MEMBER_KEYS_MAX} keys, the most that one may have; revoke one first.`,
          );
        }
        await insertKey(tx, key);
      });
      return answer;
    },

    async listKeys({ caller, query }) {
      const only = hasRight(caller.role, 'account') ? null : caller.key;
      return respondWithList(pageTokens, {
        tokenScope: `keys ${caller.account} ${only ?? ''}`,
        query,
        queryRows: (page) => listKeys(database.read, caller.account, only, page),
        formatBodies: (rows) => rows.map(formatKey),
      });
    },

    async revokeKey({ caller, params, query }) {
      await database.transact(async (tx) => {
        await lockCallerAccount(tx, caller);
        const key = await findKey(tx, params.key_id);
        const own = key && (key.id === caller.key || key.created_by === caller.key);
        if (!key || key.account_id !== caller.account || !(own || hasRight(caller.role, 'account'))) {
          throw notFound(`There is no key ${quoteValue(params.key_id)}.`);
        }
        if (!canGrant(caller.role, key.role)) {
          throw forbidden(
            `The key ${quoteValue(key.id)} has the role ${key.role}; your role ${caller.role} may not revoke it.`,
          );
        }
        const gone = [key.id, ...(query.cascade ? await listDescendantKeys(tx, caller.account, key.id) : [])];
        await requireManageable(tx, caller.account, gone, (missing) =>
          gone.length === 1
            ? `The key ${quoteValue(key.id)} is the last ${missing} key of the account; make another one first.`
            : `Among the key ${quoteValue(key.id)} and those it made is the last ${missing} key of the account; make another one with a key that stays first.`,
        );
        await deleteKeys(tx, gone);
      });
      return { status: 204 };
    },
  };
}
