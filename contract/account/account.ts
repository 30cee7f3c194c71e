/** An account owns every resource. A key is a role and a bearer token; the API shows the token only once. */
import Type, { type Static } from 'typebox';
import { EMAIL_CHARS_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { ROLES } from '../roles.ts';
import {
  nameSchema,
  nameTextSchema,
  nullable,
  optionalNullable,
  stringEnum,
  timestampSchema,
} from '../schemas/field-schemas.ts';
import { type AccountId, idSchema, type KeyId } from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';
import { revokeQuery } from './inventory.ts';

const role = stringEnum(ROLES, 'Role of the key.');

/** The ways in which an accepted invite makes a key. */
const KEY_INVITES = ['first', 'additional'] as const;
export type KeyInvite = (typeof KEY_INVITES)[number];
export const memberRole = stringEnum(
  ROLES,
  'Role of the member, and the upper bound for the roles of their keys.',
);

export const Key = Type.Object(
  {
    id: idSchema<KeyId>('Id of the key.'),
    name: Type.String({ description: 'Name of the key.' }),
    role,
    user_email: Type.String({
      description: "E-mail address of the key's owner. The runs that the key creates show it.",
    }),
    created_at: timestampSchema('Creation time of the key'),
    last_used_at: nullable(
      timestampSchema('Time of the last use, to the minute; null if the key was never used'),
    ),
    created_by: nullable(
      Type.Object(
        {
          key_id: idSchema<KeyId>('Id of the key, which may be revoked.'),
          user_email: Type.String({ description: "E-mail address of that key's owner." }),
          invite: nullable(
            stringEnum(
              KEY_INVITES,
              'How the key was made through an invite of that key. first: a member joined with it. additional: the member had joined already. null: without an invite.',
            ),
          ),
        },
        {
          description:
            'The key that created this one, or the invite through which it was made; null for the first key of an account and a key from single sign-on.',
        },
      ),
    ),
  },
  { $id: 'Key', description: 'An API key, without its token.' },
);
export type Key = Static<typeof Key>;

const KeyCreate = Type.Object(
  {
    name: nameSchema('key'),
    role,
    user_email: optionalNullable(
      nameTextSchema(
        "E-mail address of the key's owner: a member, or the name of a service. The default is the creator’s address; only root and admin can set another.",
        { min: 3, max: EMAIL_CHARS_MAX },
      ),
    ),
  },
  { $id: 'KeyCreate', additionalProperties: false, description: 'The key to create.' },
);

export const NewKey = Type.Object(
  {
    ...Key.properties,
    token: Type.String({ description: 'The bearer token. Only this response shows it.' }),
  },
  { $id: 'NewKey', description: 'An API key with its token.' },
);

export const AccountSummary = Type.Object(
  {
    id: idSchema<AccountId>('Id of the account.'),
    name: Type.String({ description: 'Name of the account.' }),
    created_at: timestampSchema('Creation time of the account'),
  },
  { $id: 'AccountSummary', description: 'An account.' },
);
export type AccountSummary = Static<typeof AccountSummary>;

const Account = Type.Object(
  { ...AccountSummary.properties, key: Key },
  { $id: 'Account', description: "The account and the caller's key." },
);

const AccountUpdate = Type.Object(
  { name: optionalNullable(nameSchema('account')) },
  { $id: 'AccountUpdate', description: 'The fields to change. Others may have their present values.' },
);

const keyExample = {
  id: 'key-4k2m9x',
  name: 'nightly plans',
  role: 'operator',
  user_email: 'planner@example.com',
  created_at: '2026-11-20T08:00:00.000Z',
  last_used_at: null,
  created_by: { key_id: 'key-1a7c3f', user_email: 'ada@example.com', invite: null },
};
export const newKeyExample = { ...keyExample, token: 'eyJhbGciOi…' };
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
  description: 'Returns the account and the key that the bearer token belongs to.',
  right: 'read',
  responses: respond(200, "The account and the caller's key.", Account, accountExample),
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
  responses: respond(200, 'The account.', Account, accountExample),
});

export const createKey = defineOperation({
  id: 'createKey',
  method: 'POST',
  path: '/v1/account/keys',
  tag: 'account',
  summary: 'Create a key',
  description:
    'Creates a key and returns its token. No later response shows the token. A key can grant only roles whose rights it has itself. A key of a member has no more rights than the member. A member can have 100 keys.',
  right: 'keys',
  returnsToken: true,
  body: { schema: KeyCreate, example: { name: 'nightly plans', role: 'operator' } },
  responses: respond(201, 'The key with its token.', NewKey, newKeyExample),
});

export const listKeys = defineOperation({
  id: 'listKeys',
  method: 'GET',
  path: '/v1/account/keys',
  tag: 'account',
  summary: 'List keys',
  description:
    'Lists the keys of the account. Root and admin see all keys; other roles see their own key and the keys that they created.',
  right: 'keys',
  query: Type.Object(PageQuery),
  responses: respond(200, 'The keys, newest first.', pageOrArray(Key), [keyExample]),
});

export const revokeKey = defineOperation({
  id: 'revokeKey',
  method: 'DELETE',
  path: '/v1/account/keys/{key_id}',
  tag: 'account',
  summary: 'Revoke a key',
  description:
    'Revokes a key at once, with its sessions and the upload URLs that it requested. Everything made with it ends too: the keys that it created, with their descendants, and the worker tokens, share links and trust in HTML assets made with any of them. Their webhooks are disabled, and their open invites are withdrawn. A key that a member got through such an invite ends too. The first key of a member ends only when `revoke` names it. `cascade=false` keeps all of that, for example when you replace the key by one that it created. You cannot revoke the last root key of an account. In an account without a root key, you cannot revoke the last admin key.',
  right: 'keys',
  params: KeyParams,
  query: Type.Object({
    cascade: Type.Optional(
      Type.Boolean({
        description:
          'false: keep what was made with the key. The default is true. A request with a key that would end too is refused.',
      }),
    ),
    revoke: revokeQuery,
  }),
  responses: { 204: { description: 'The key is revoked.' } },
});
