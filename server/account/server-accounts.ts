/** The operations on the accounts of the server. */

import { hasRight } from '@switchyard/contract/roles.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import type { Clock } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import { badRequest, forbidden, notFound, quoteValue } from '../http/errors/problem.ts';
import type { HandlersFor } from '../http/handlers/handler.ts';
import { respondWithList } from '../http/lists/list-responses.ts';
import type { PageTokens } from '../http/lists/pagination.ts';
import type { Random } from '../random.ts';
import { buildNewAccount, insertNewAccount } from './new-account.ts';
import { formatAccount, formatKey, formatMember } from './response-bodies.ts';
import { explainSignUpRefusal, type SignUpPolicy } from './sign-up.ts';
import { deleteKeysAndMembers, listAccounts, lockAccount, updateAccount } from './store.ts';
import type { Tokens } from './tokens.ts';

interface Parts {
  database: Database;
  tokens: Tokens;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
  signUp: SignUpPolicy;
  /** Deletes everything the account owns that is deleted by itself, too. */
  deleteOwned(tx: Writer, account: AccountId, at: number): Promise<void>;
  /** Told after an account was deleted, so that what belonged to it is removed soon. */
  onDeleted(): void;
}

const LIST = 'accounts';

export function serverAccountHandlers(
  parts: Parts,
): HandlersFor<'getSignUp' | 'createAccount' | 'listAccounts' | 'deleteAccount'> {
  const { database, tokens, pageTokens, clock, random, signUp } = parts;
  return {
    async getSignUp({ headers }) {
      const reason = explainSignUpRefusal(signUp, headers);
      return { status: 200, body: { allowed: reason === '', reason } };
    },

    async createAccount({ optionalCaller: visitor, headers, body, remember }) {
      if (!visitor || !hasRight(visitor.role, 'server')) {
        const refusal = explainSignUpRefusal(signUp, headers);
        if (refusal !== '') throw forbidden(refusal);
      }
      // Never root: that is the operator of the server.
      const made = buildNewAccount(random, clock.now(), {
        name: body.name,
        email: body.email,
        role: 'admin',
      });
      const { account, member, key } = made;
      const token = await tokens.sign({ key: key.id, account: account.id, role: key.role });
      const answer = {
        status: 201 as const,
        body: { account: formatAccount(account), member: formatMember(member), key: formatKey(key), token },
      };
      await database.transact(async (tx) => {
        await remember(tx, answer);
        await insertNewAccount(tx, made);
      });
      return answer;
    },

    async listAccounts({ query }) {
      return respondWithList(pageTokens, {
        tokenScope: LIST,
        query,
        queryRows: (page) => listAccounts(database.read, page),
        formatBodies: (rows) => rows.map(formatAccount),
      });
    },

    async deleteAccount({ caller, params }) {
      if (params.account_id === caller.account) {
        throw badRequest(
          `account_id is ${quoteValue(params.account_id)}, the account of your own key; it must be another one.`,
        );
      }
      await database.transact(async (tx) => {
        const account = await lockAccount(tx, params.account_id);
        if (!account) throw notFound(`There is no account ${quoteValue(params.account_id)}.`);
        const now = clock.now();
        await updateAccount(tx, account.id, { deleted_at: now });
        await deleteKeysAndMembers(tx, account.id);
        await parts.deleteOwned(tx, account.id, now);
      });
      parts.onDeleted();
      return { status: 204 };
    },
  };
}
