import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { markAccountDeleted } from './access-changes.ts';
import { buildNewAccount, insertNewAccount } from './new-account.ts';
import { formatAccount, formatKey, formatMember } from './response-bodies.ts';
import { explainSignUpRefusal, requireSignUp } from './sign-up.ts';
import * as store from './store.ts';

export const getSignUp: OperationHandler<'getSignUp'> = async ({ signUp }, { headers }) => {
  const reason = explainSignUpRefusal(signUp, headers);
  return { status: 200, body: { allowed: reason === '', reason } };
};

export const createAccount: OperationHandler<'createAccount'> = async (
  { tokens, signUp, clock, random },
  { optionalCaller, headers, body, commit },
) => {
  requireSignUp(signUp, optionalCaller, headers);
  // Never root, because root operates the server.
  const created = buildNewAccount(random, clock.now(), { name: body.name, email: body.email, role: 'admin' });
  const { account, member, key } = created;
  const token = await tokens.sign({ key: key.id, account: account.id, role: key.role });
  return commit(async (tx) => {
    await insertNewAccount(tx, created);
    return {
      status: 201,
      body: { account: formatAccount(account), member: formatMember(member), key: formatKey(key), token },
    };
  });
};

export const listAccounts: OperationHandler<'listAccounts'> = async (context, { query }) =>
  respondWithList(context, {
    tokenScope: 'accounts',
    query,
    queryRows: (page) => store.listAccounts(context.database.read, page),
    formatBodies: (rows) => rows.map(formatAccount),
  });

export const deleteAccount: OperationHandler<'deleteAccount'> = async (
  context,
  { caller, params, commit },
) => {
  const committed = await commit(async (tx) => {
    await markAccountDeleted(context, tx, caller, { field: 'account_id', id: params.account_id });
    return { status: 204 };
  });
  context.onApplicationDeleted();
  return committed;
};
