/** The operations on the accounts of the server. */
import type { AccountId } from '@switchyard/contract/ids.ts';
import { hasRight } from '@switchyard/contract/roles.ts';
import type { Clock } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import type { HandlersOf } from '../http/handler.ts';
import { answerList } from '../http/lists.ts';
import type { PageTokens } from '../http/paging.ts';
import { badRequest, forbidden, notFound, shown } from '../http/problem.ts';
import type { Random } from '../random.ts';
import { accountBody, keyBody, memberBody } from './bodies.ts';
import { insertNewAccount, newAccount } from './new-account.ts';
import { type SignUpRule, signUpRefusal } from './sign-up.ts';
import { deleteAccess, listAccounts, lockAccount, updateAccount } from './store.ts';
import type { Tokens } from './tokens.ts';

interface Parts {
  database: Database;
  tokens: Tokens;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
  signUp: SignUpRule;
  /** Deletes everything the account owns that is deleted by itself, too. */
  deleteOwned(tx: Writer, account: AccountId, at: number): Promise<void>;
  /** Told after an account was deleted, so that what belonged to it is removed soon. */
  onDeleted(): void;
}

const LIST = 'accounts';

export function accountsHandlers(
  parts: Parts,
): HandlersOf<'getSignUp' | 'createAccount' | 'listAccounts' | 'deleteAccount'> {
  const { database, tokens, pageTokens, clock, random, signUp } = parts;
  return {
    async getSignUp({ headers }) {
      const reason = signUpRefusal(signUp, headers);
      return { status: 200, body: { allowed: reason === '', reason } };
    },

    async createAccount({ visitor, headers, body, remember }) {
      if (!visitor || !hasRight(visitor.role, 'server')) {
        const refusal = signUpRefusal(signUp, headers);
        if (refusal !== '') throw forbidden(refusal);
      }
      // Never root: that is the operator of the server.
      const made = newAccount(random, clock.now(), { name: body.name, email: body.email, role: 'admin' });
      const { account, member, key } = made;
      const token = await tokens.sign({ key: key.id, account: account.id, role: key.role });
      const answer = {
        status: 201 as const,
        body: { account: accountBody(account), member: memberBody(member), key: keyBody(key), token },
      };
      await database.transact(async (tx) => {
        await remember(tx, answer);
        await insertNewAccount(tx, made);
      });
      return answer;
    },

    async listAccounts({ query }) {
      return answerList(pageTokens, {
        list: LIST,
        query,
        rows: (page) => listAccounts(database.read, page),
        bodies: (rows) => rows.map(accountBody),
      });
    },

    async deleteAccount({ caller, params }) {
      if (params.account_id === caller.account) {
        throw badRequest(
          `account_id is ${shown(params.account_id)}, the account of your own key; it must be another one.`,
        );
      }
      await database.transact(async (tx) => {
        const account = await lockAccount(tx, params.account_id);
        if (!account) throw notFound(`There is no account ${shown(params.account_id)}.`);
        const now = clock.now();
        await updateAccount(tx, account.id, { deleted_at: now });
        await deleteAccess(tx, account.id);
        await parts.deleteOwned(tx, account.id, now);
      });
      parts.onDeleted();
      return { status: 204 };
    },
  };
}
