/** The operations on the account and its keys. */
import type { Key } from '@switchyard/contract/account.ts';
import type { KeyId } from '@switchyard/contract/ids.ts';
import { hasRight, mayGrant } from '@switchyard/contract/roles.ts';
import { type Clock, rfc3339 } from '../clock.ts';
import { type Database, skipsLocked } from '../database/database.ts';
import type { HandlersOf } from '../http/handler.ts';
import { cutPage, type PageTokens, pageAnswer, pageRequest } from '../http/paging.ts';
import { badRequest, forbidden, notFound, shown } from '../http/problem.ts';
import { makeId, type Random } from '../random.ts';
import type { KeysTable } from './schema.ts';
import { countRootKeys, deleteKey, findAccount, findKey, insertKey, listKeys } from './store.ts';
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
): HandlersOf<'getAccount' | 'createKey' | 'listKeys' | 'revokeKey'> {
  const { database, tokens, pageTokens, clock, random } = parts;
  return {
    async getAccount({ caller }) {
      const account = await findAccount(database.read, caller.account);
      const key = await findKey(database.read, caller.key);
      if (!account || !key) throw notFound('The account is gone.');
      return {
        status: 200,
        body: {
          id: account.id,
          name: account.name,
          created_at: rfc3339(account.created_at),
          key: keyBody(key),
        },
      };
    },

    async createKey({ caller, body, remember }) {
      if (!mayGrant(caller.role, body.role)) {
        throw forbidden(
          `role is ${shown(body.role)}, which has rights the role ${caller.role} of your key does not have.`,
        );
      }
      const key: KeysTable = {
        id: makeId<KeyId>(random, 'key'),
        account_id: caller.account,
        name: body.name,
        role: body.role,
        email: body.user_email ?? caller.email,
        created_by: caller.key,
        created_at: clock.now(),
        last_used_at: null,
      };
      const token = await tokens.sign({ key: key.id, account: key.account_id, role: key.role });
      const answer = { status: 201 as const, body: { ...keyBody(key), token } };
      await database.transact(async (tx) => {
        await remember(tx, answer);
        await insertKey(tx, key);
      });
      return answer;
    },

    async listKeys({ caller, query }) {
      const only = hasRight(caller.role, 'account') ? null : caller.key;
      const list = `keys ${caller.account} ${only ?? ''}`;
      const request = pageRequest(pageTokens, list, query);
      const rows = await listKeys(database.read, caller.account, only, request);
      const page = cutPage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
      return {
        status: 200,
        body: pageAnswer(pageTokens, list, query, { ...page, items: page.items.map(keyBody) }),
      };
    },

    async revokeKey({ caller, params }) {
      await database.transact(async (tx) => {
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
        if (key.role === 'root' && (await countRootKeys(tx, caller.account, skipsLocked(database))) <= 1) {
          throw badRequest(
            `The key ${shown(key.id)} is the last root key of the account; make another one first.`,
          );
        }
        await deleteKey(tx, key.id);
      });
      return { status: 204 };
    },
  };
}

function keyBody(key: KeysTable): Key {
  return {
    id: key.id,
    name: key.name,
    role: key.role,
    user_email: key.email,
    created_at: rfc3339(key.created_at),
    last_used_at: key.last_used_at === null ? null : rfc3339(key.last_used_at),
  };
}
