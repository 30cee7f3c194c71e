/** The accounts of the server. The operator decides who may create one, and alone lists and deletes the others. */
import Type from 'typebox';
import { defineOperation, respond } from '../operation.ts';
import { emailSchema, nameSchema } from '../schemas/field-schemas.ts';
import { type AccountId, idSchema } from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';
import { AccountSummary } from './account.ts';
import { Admission, admissionExample } from './members.ts';

const AccountCreate = Type.Object(
  { name: nameSchema('account'), email: emailSchema('E-mail address of the first member.') },
  { $id: 'AccountCreate', additionalProperties: false, description: 'The account to create.' },
);

const SignUp = Type.Object(
  {
    allowed: Type.Boolean({ description: 'true if the caller can create an account without a token.' }),
    reason: Type.String({ description: 'The reason and a contact when it is false; empty when it is true.' }),
  },
  { $id: 'SignUp', description: 'The sign-up policy of the server.' },
);

const summaryExample = { id: 'account-1', name: 'Main account', created_at: '2026-11-20T08:00:00.000Z' };

export const getSignUp = defineOperation({
  id: 'getSignUp',
  method: 'GET',
  path: '/v1/sign-up',
  tag: 'accounts',
  summary: 'Get the sign-up policy',
  description:
    'Returns whether the caller can create an account without a token, as configured by the operator.',
  right: 'public',
  responses: respond(200, 'The sign-up policy.', SignUp, { allowed: true, reason: '' }),
});

export const createAccount = defineOperation({
  id: 'createAccount',
  method: 'POST',
  path: '/v1/accounts',
  tag: 'accounts',
  summary: 'Create an account',
  description:
    "Creates an account, its first member with the role admin, and a key. Only this response shows the token of the key. The call needs no token where the operator allows sign-up; by default that is on the server's own host. A root key can always create accounts. An `Idempotency-Key` has an effect only with a token.",
  right: 'public',
  returnsToken: true,
  optionalToken: true,
  body: { schema: AccountCreate, example: { name: 'Main account', email: 'ada@example.com' } },
  responses: respond(
    201,
    'The account, its first member, and the key with its token.',
    Admission,
    admissionExample('admin'),
  ),
  errors: [401, 403],
});

export const listAccounts = defineOperation({
  id: 'listAccounts',
  method: 'GET',
  path: '/v1/accounts',
  tag: 'accounts',
  summary: 'List accounts',
  description: 'Lists every account of the server.',
  right: 'server',
  query: Type.Object(PageQuery),
  responses: respond(200, 'The accounts, newest first.', pageOrArray(AccountSummary), [summaryExample]),
});

export const deleteAccount = defineOperation({
  id: 'deleteAccount',
  method: 'DELETE',
  path: '/v1/accounts/{account_id}',
  tag: 'accounts',
  summary: 'Delete an account',
  description:
    'Deletes another account with all its resources. Its keys stop working at once and its runs are canceled. A background job removes the data soon after.',
  right: 'server',
  params: Type.Object({ account_id: idSchema<AccountId>('Id of the account.') }),
  responses: { 204: { description: 'The account is deleted.' } },
});
