/** An account owns everything. Keys let callers in: a key is a role and a bearer token that is shown once. */
import Type, { type Static } from 'typebox';
import { EMAIL_CHARS_MAX } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ROLES } from '../roles.ts';
import { name, nullable, optionalNullable, stringEnum, text, timestamp } from '../schemas/field-schemas.ts';
import { type AccountId, idSchema, type KeyId } from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';

const role = stringEnum(ROLES, 'What the key may do.');
export const memberRole = stringEnum(
  ROLES,
  'What the member may do, and so the most that a key of theirs may do.',
);

export const Key = Type.Object(
  {
    id: idSchema<KeyId>('Id of the key.'),
    name: Type.String({ description: 'What the key is for.' }),
    role,
    user_email: Type.String({ description: 'Whose key it is; shown on the runs it makes.' }),
    created_at: timestamp('When the key was made'),
    last_used_at: nullable(timestamp('When the key was last used, to the minute; null when never')),
    created_by: nullable(
      Type.Object(
        {
          key_id: idSchema<KeyId>('Id of the key; it may have been revoked.'),
          user_email: Type.String({ description: 'Whose key it was.' }),
        },
        { description: 'The key that made this one; null for the first key of somebody who came in.' },
      ),
    ),
  },
  { $id: 'Key', description: 'A key of the account, without its token.' },
);
export type Key = Static<typeof Key>;

const KeyCreate = Type.Object(
  {
    name: name('key'),
    role,
    user_email: optionalNullable(
      text(
        'Whose key it is: the e-mail address of a member, or the name of a service. The creator’s when absent; only root and admin name another.',
        { min: 3, max: EMAIL_CHARS_MAX },
      ),
    ),
  },
  { $id: 'KeyCreate', additionalProperties: false, description: 'The key to make.' },
);

const NewKey = Type.Object(
  { ...Key.properties, token: Type.String({ description: 'The bearer token. It is shown this once.' }) },
  { $id: 'NewKey', description: 'A key with its token.' },
);

export const AccountSummary = Type.Object(
  {
    id: idSchema<AccountId>('Id of the account.'),
    name: Type.String({ description: 'Name of the account.' }),
    created_at: timestamp('When the account was made'),
  },
  { $id: 'AccountSummary', description: 'An account.' },
);
export type AccountSummary = Static<typeof AccountSummary>;

const Account = Type.Object(
  { ...AccountSummary.properties, key: Key },
  { $id: 'Account', description: 'The account and the key of the caller.' },
);

const AccountUpdate = Type.Object(
  { name: optionalNullable(name('account')) },
  { $id: 'AccountUpdate', description: 'What to change; every other field is ignored.' },
);

const keyExample = {
  id: 'key-4k2m9x',
  name: 'nightly plans',
  role: 'operator',
  user_email: 'planner@example.com',
  created_at: '2026-11-20T08:00:00.000Z',
  last_used_at: null,
  created_by: { key_id: 'key-1a7c3f', user_email: 'ada@example.com' },
};
const accountExample = {
  id: 'account-1',
  name: 'Main account',
  created_at: '2026-11-20T08:00:00.000Z',
  key: keyExample,
};
const KeyParams = Type.Object({ key_id: idSchema<KeyId>('Id of the key.') });

export const getAccount = defineOperation({
  id: 'getAccount',
  method: 'GET',
  path: '/v1/account',
  tag: 'account',
  summary: 'Get the account',
  description: 'Tells which account and which key the bearer token belongs to.',
  right: 'read',
  responses: {
    200: {
      description: 'The account and the key of the caller.',
      schema: Account,
      example: accountExample,
    },
  },
});

export const updateAccount = defineOperation({
  id: 'updateAccount',
  method: 'PUT',
  path: '/v1/account',
  tag: 'account',
  summary: 'Rename the account',
  description: 'Changes the name of the account.',
  right: 'account',
  body: { schema: AccountUpdate, example: { name: 'Main account' } },
  responses: { 200: { description: 'The account.', schema: Account, example: accountExample } },
});

export const createKey = defineOperation({
  id: 'createKey',
  method: 'POST',
  path: '/v1/account/keys',
  tag: 'account',
  summary: 'Create a key',
  description:
    'Makes a key and answers its token, this once. A key can only give roles whose rights it has itself, and a member only gets keys that may do no more than the member, 100 at most.',
  right: 'keys',
  returnsToken: true,
  body: { schema: KeyCreate, example: { name: 'nightly plans', role: 'operator' } },
  responses: {
    201: {
      description: 'The key with its token.',
      schema: NewKey,
      example: { ...keyExample, token: 'eyJhbGciOi…' },
    },
  },
});

export const listKeys = defineOperation({
  id: 'listKeys',
  method: 'GET',
  path: '/v1/account/keys',
  tag: 'account',
  summary: 'List keys',
  description:
    'Lists the keys of the account; other roles than root and admin see themselves and the keys they made.',
  right: 'keys',
  query: Type.Object(PageQuery),
  responses: {
    200: { description: 'The keys, newest first.', schema: pageOrArray(Key), example: [keyExample] },
  },
});

export const revokeKey = defineOperation({
  id: 'revokeKey',
  method: 'DELETE',
  path: '/v1/account/keys/{key_id}',
  tag: 'account',
  summary: 'Revoke a key',
  description:
    'The token of the key stops working at once, and so do upload URLs that it asked for. Keys that it created stay valid; `cascade=true` revokes them and every key created through them. The last root key of an account cannot be revoked, nor, where there is none, the last admin key.',
  right: 'keys',
  params: KeyParams,
  query: Type.Object({
    cascade: Type.Optional(
      Type.Boolean({ description: 'true: revoke the keys that it made as well, and those that they made.' }),
    ),
  }),
  responses: { 204: { description: 'The key is revoked.' } },
  errors: [400, 404],
});
