/** The accounts of the server: anyone makes one where the operator allows it; only the operator sees and removes others. */
import Type from 'typebox';
import { defineOperation } from '../operation.ts';
import { email, name } from '../schemas/field-schemas.ts';
import { type AccountId, idSchema } from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';
import { AccountSummary } from './account.ts';
import { Admission, admissionExample } from './members.ts';

const AccountCreate = Type.Object(
  { name: name('account'), email: email('E-mail address of its first member.') },
  { $id: 'AccountCreate', additionalProperties: false, description: 'The account to make.' },
);

const SignUp = Type.Object(
  {
    allowed: Type.Boolean({ description: 'Whether the caller can make an account without a token.' }),
    reason: Type.String({ description: 'Why not, and who can; empty when it is allowed.' }),
  },
  { $id: 'SignUp', description: 'Whether accounts can be made without a token.' },
);

const summaryExample = { id: 'account-1', name: 'Main account', created_at: '2026-11-20T08:00:00.000Z' };

export const getSignUp = defineOperation({
  id: 'getSignUp',
  method: 'GET',
  path: '/v1/sign-up',
  tag: 'accounts',
  summary: 'Can I sign up',
  description: 'Tells whether the caller can make an account without a token, as the operator decided.',
  right: 'public',
  responses: {
    200: { description: 'Whether it is allowed.', schema: SignUp, example: { allowed: true, reason: '' } },
  },
});

export const createAccount = defineOperation({
  id: 'createAccount',
  method: 'POST',
  path: '/v1/accounts',
  tag: 'accounts',
  summary: 'Make an account',
  description:
    'Makes an account with its first member, an admin, and a key whose token is answered this once. Needs no token where the operator allows sign-up, which by default is on the machine of the server; with a root key it is always allowed. An Idempotency-Key counts only with a token.',
  right: 'public',
  returnsToken: true,
  optionalToken: true,
  body: { schema: AccountCreate, example: { name: 'Main account', email: 'ada@example.com' } },
  responses: {
    201: {
      description: 'The account, its first member and the key with its token.',
      schema: Admission,
      example: admissionExample('admin'),
    },
  },
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
  responses: {
    200: {
      description: 'The accounts, newest first.',
      schema: pageOrArray(AccountSummary),
      example: [summaryExample],
    },
  },
});

export const deleteAccount = defineOperation({
  id: 'deleteAccount',
  method: 'DELETE',
  path: '/v1/accounts/{account_id}',
  tag: 'accounts',
  summary: 'Delete an account',
  description:
    'Removes another account with everything in it. Its keys stop working at once, its runs are canceled; what they left is removed soon after.',
  right: 'server',
  params: Type.Object({ account_id: idSchema<AccountId>('Id of the account.') }),
  responses: { 204: { description: 'The account is deleted.' } },
  errors: [404],
});
