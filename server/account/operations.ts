/** The operations on the account and its keys. */
import type { KeyId } from '@switchyard/contract/ids.ts';
import { KEYS_OF_MEMBER_MAX } from '@switchyard/contract/limits.ts';
import { hasRight, mayGrant } from '@switchyard/contract/roles.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { HandlersOf } from '../http/handler.ts';
import { answerList } from '../http/lists.ts';
import type { PageTokens } from '../http/paging.ts';
import { badRequest, forbidden, notFound, shown } from '../http/problem.ts';
import { makeId, type Random } from '../random.ts';
import { holdAccount, keepManageable } from './access.ts';
import { accountBody, keyBody } from './bodies.ts';
import { findMemberOf } from './member-store.ts';
import { type KeysTable, ownerOf } from './schema.ts';
import {
  countKeysOf,
  deleteKeys,
  findAccount,
  findKey,
  insertKey,
  listKeys,
  listKeysMadeBy,
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

export function accountHandlers(
  parts: Parts,
): HandlersOf<'getAccount' | 'updateAccount' | 'createKey' | 'listKeys' | 'revokeKey'> {
  const { database, tokens, pageTokens, clock, random } = parts;
  return {
    async getAccount({ caller }) {
      const account = await findAccount(database.read, caller.account);
      const key = await findKey(database.read, caller.key);
      if (!account || !key) throw notFound('The account is gone.');
      return { status: 200, body: { ...accountBody(account), key: keyBody(key) } };
    },

    async updateAccount({ caller, body }) {
      const changed = await database.transact(async (tx) => {
        const { account, key } = await holdAccount(tx, caller);
        const name = body.name ?? account.name;
        await updateAccount(tx, account.id, { name });
        return { ...accountBody({ ...account, name }), key: keyBody(key) };
      });
      return { status: 200, body: changed };
    },

    async createKey({ caller, body, remember }) {
      if (!mayGrant(caller.role, body.role)) {
        throw forbidden(
          `role is ${shown(body.role)}, which has rights the role ${caller.role} of your key does not have.`,
        );
      }
      const email = body.user_email ?? caller.email;
      if (ownerOf(email) !== ownerOf(caller.email) && !hasRight(caller.role, 'account')) {
        throw forbidden(
          `user_email is ${shown(email)}; the role ${caller.role} only makes keys for its own, ${shown(caller.email)}.`,
        );
      }
      const key: KeysTable = {
        id: makeId<KeyId>(random, 'key'),
        account_id: caller.account,
        name: body.name,
        role: body.role,
        email,
        owner: ownerOf(email),
        created_by: caller.key,
        created_by_email: caller.email,
        descends_from: caller.key,
        created_at: clock.now(),
        last_used_at: null,
      };
      const token = await tokens.sign({ key: key.id, account: key.account_id, role: key.role });
      const answer = { status: 201 as const, body: { ...keyBody(key), token } };
      await database.transact(async (tx) => {
        await remember(tx, answer);
        await holdAccount(tx, caller);
        const member = await findMemberOf(tx, caller.account, key.owner);
        if (member && !mayGrant(member.role, key.role)) {
          throw badRequest(
            `role is ${shown(key.role)}, which has rights that the member ${shown(member.email)} with the role ${member.role} does not have; change the role of the member first.`,
          );
        }
        if ((await countKeysOf(tx, caller.account, key.owner)) >= KEYS_OF_MEMBER_MAX) {
          throw badRequest(
            `${shown(email)} has ${KEYS_OF_MEMBER_MAX} keys, the most that one may have; revoke one first.`,
          );
        }
        await insertKey(tx, key);
      });
      return answer;
    },

    async listKeys({ caller, query }) {
      const only = hasRight(caller.role, 'account') ? null : caller.key;
      return answerList(pageTokens, {
        list: `keys ${caller.account} ${only ?? ''}`,
        query,
        rows: (page) => listKeys(database.read, caller.account, only, page),
        bodies: (rows) => rows.map(keyBody),
      });
    },

    async revokeKey({ caller, params, query }) {
      await database.transact(async (tx) => {
        await holdAccount(tx, caller);
        const key = await findKey(tx, params.key_id);
        const own = key && (key.id === caller.key || key.created_by === caller.key);
        if (!key || key.account_id !== caller.account || !(own || hasRight(caller.role, 'account'))) {
          throw notFound(`There is no key ${shown(params.key_id)}.`);
        }
        if (!mayGrant(caller.role, key.role)) {
          throw forbidden(
            `The key ${shown(key.id)} has the role ${key.role}; your role ${caller.role} may not revoke it.`,
          );
        }
        const gone = [key.id, ...(query.cascade ? await listKeysMadeBy(tx, caller.account, key.id) : [])];
        await keepManageable(tx, caller.account, gone, (missing) =>
          gone.length === 1
            ? `The key ${shown(key.id)} is the last ${missing} key of the account; make another one first.`
            : `Among the key ${shown(key.id)} and those it made is the last ${missing} key of the account; make another one with a key that stays first.`,
        );
        await deleteKeys(tx, gone);
      });
      return { status: 204 };
    },
  };
}
