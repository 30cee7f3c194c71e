/** Operations on the caller's account and its keys. */
import { canGrant, hasRight } from '@switchyard/contract/roles.ts';
import type { KeyId } from '@switchyard/contract/schemas/ids.ts';
import type { Writer } from '../../platform/database/database.ts';
import { forbidden, notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Caller, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { makeId } from '../../platform/random.ts';
import { lockCallerAccount, parseKinds, requireKeyOwner, revokeKeyTree } from './access-changes.ts';
import { formatAccount, formatKey } from './response-bodies.ts';
import { type KeysTable, normalizeEmail } from './schema.ts';
import * as store from './store.ts';

export const getAccount: OperationHandler<'getAccount'> = async ({ database }, { caller }) => {
  const account = await store.findAccount(database.read, caller.account);
  const key = await store.findKey(database.read, caller.key);
  if (!account || !key) throw notFound('The account is gone.');
  return { status: 200, body: { ...formatAccount(account), key: formatKey(key) } };
};

export const updateAccount: OperationHandler<'updateAccount'> = async (_context, { caller, body, commit }) =>
  commit(async (tx) => {
    const { account, key } = await lockCallerAccount(tx, caller);
    const name = body.name ?? account.name;
    await store.updateAccount(tx, account.id, { name });
    return { status: 200, body: { ...formatAccount({ ...account, name }), key: formatKey(key) } };
  });

export const createKey: OperationHandler<'createKey'> = async (
  { tokens, clock, random },
  { caller, body, commit },
) => {
  if (!canGrant(caller.role, body.role)) {
    throw forbidden(
      `role is ${quoteValue(body.role)}, which has rights the role ${caller.role} of your key does not have.`,
    );
  }
  const email = body.user_email ?? caller.email;
  if (normalizeEmail(email) !== normalizeEmail(caller.email) && !hasRight(caller.role, 'account')) {
    throw forbidden(
      `user_email is ${quoteValue(email)}; a key with the role ${caller.role} can create keys only for its own address, ${quoteValue(caller.email)}.`,
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
    invite: null,
    created_at: clock.now(),
    last_used_at: null,
  };
  const token = await tokens.sign({ key: key.id, account: key.account_id, role: key.role });
  return commit(async (tx) => {
    await lockCallerAccount(tx, caller);
    await requireKeyOwner(tx, key);
    await store.insertKey(tx, key);
    return { status: 201, body: { ...formatKey(key), token } };
  });
};

export const listKeys: OperationHandler<'listKeys'> = async (context, { caller, query }) => {
  const only = hasRight(caller.role, 'account') ? null : caller.key;
  return respondWithList(context, {
    tokenScope: `keys ${caller.account} ${only ?? ''}`,
    query,
    queryRows: (page) => store.listKeys(context.database.read, caller.account, only, page),
    formatBodies: (rows) => rows.map(formatKey),
  });
};

export const revokeKey: OperationHandler<'revokeKey'> = async (
  context,
  { caller, address, params, query, commit },
) => {
  const committed = await commit(async (tx) => {
    await lockCallerAccount(tx, caller);
    const key = await findRevocableKey(tx, caller, params.key_id);
    const by = { caller, address };
    const kinds = parseKinds(query.revoke);
    await revokeKeyTree(tx, context, key, { cascade: query.cascade ?? true, revoke: kinds, by });
    return { status: 204 };
  });
  context.database.notify('workers-changed');
  return committed;
};

/** Throws a 404 for a key that the caller may not see, and a 403 for one with more rights than the caller. */
async function findRevocableKey(tx: Writer, caller: Caller, id: KeyId): Promise<KeysTable> {
  const key = await store.findKey(tx, id);
  const isOwn = key && (key.id === caller.key || key.created_by === caller.key);
  if (!key || key.account_id !== caller.account || !(isOwn || hasRight(caller.role, 'account')))
    throw notFound(`There is no key ${quoteValue(id)}.`);
  if (!canGrant(caller.role, key.role))
    throw forbidden(
      `The key ${quoteValue(key.id)} has the role ${key.role}; your role ${caller.role} may not revoke it.`,
    );
  return key;
}
