/**
 * The audit log: who did what, when, to which resource. It is append-only; each entry contains the hash of the one
 * before.
 */
import Type, { type Static } from 'typebox';
import { defineOperation, respond } from '../operation.ts';
import { ROLES } from '../roles.ts';
import { mapSchema, nullable, stringEnum, timestampSchema } from '../schemas/field-schemas.ts';
import {
  type AccountId,
  type ApplicationId,
  type EntryId,
  idReferenceSchema,
  idSchema,
  type KeyId,
} from '../schemas/ids.ts';
import { itemsPage, PageQuery, WindowQuery } from '../schemas/paging.ts';

/**
 * `done`: the operation took effect, or returned the values of secrets. `refused`: the role of the key lacked the
 * right. Only the first refusal of a key and an operation in each minute is logged.
 */
const AUDIT_OUTCOMES = ['done', 'refused'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** What the server itself did, by the name in the log, with its title. */
export const SERVER_ACTIONS: Readonly<Record<string, string>> = {
  firstStart: 'Create the first key',
  provisionMember: 'Add a member of single sign-on',
  changeMemberRole: 'Change the role of a member with the groups',
  subscriberAdded: 'Add a subscriber',
  subscriberRemoved: 'Remove a subscriber',
  subscribedVersionAdded: 'Add a subscribed version',
  subscriptionReleased: 'Release a subscription',
  subscriptionRetracted: 'Retract a subscription',
  subscriptionEnded: 'End a subscription',
};

/** The value of `account_id` that lists the entries of every account. */
export const ALL_ACCOUNTS = 'all';

/** The previous hash of the first entry, which has no predecessor. */
export const FIRST_PREVIOUS_HASH = '0'.repeat(64);

const HEX = '64 hexadecimal digits';

export const AuditEntry = Type.Object(
  {
    number: nullable(
      Type.Integer({
        minimum: 1,
        description:
          'Position in the server-wide chain, from 1; null for about a second, until the entry has one.',
      }),
    ),
    id: idSchema<EntryId>('Id of the entry.'),
    created_at: timestampSchema('Time of the operation'),
    account_id: nullable(idSchema<AccountId>('Account of the operation.')),
    key_id: nullable(idSchema<KeyId>('Key of the caller; null for a call without a token.')),
    key_name: nullable(Type.String({ description: 'Name of the key at that time.' })),
    role: nullable(stringEnum(ROLES, 'Role of the key at that time.')),
    user_email: nullable(Type.String({ description: "E-mail address of the key's owner at that time." })),
    operation: Type.String({
      description:
        'The operationId. The server itself writes `firstStart` for the first key, `provisionMember` for a new member of single sign-on, and `changeMemberRole` for a role that changed with the groups. For the other account of a subscription it writes `subscriberAdded`, `subscriberRemoved`, `subscribedVersionAdded`, `subscriptionReleased`, `subscriptionRetracted` and `subscriptionEnded`.',
    }),
    outcome: stringEnum(
      AUDIT_OUTCOMES,
      '`done` when the operation took effect, `refused` when the role lacked the right.',
    ),
    resource: mapSchema(
      Type.String(),
      'The affected resource: the path parameters by name, and the id of a created resource.',
    ),
    request_id: nullable(Type.String({ description: 'Id of the request, as in the server log.' })),
    address: nullable(Type.String({ description: 'IP address of the client.' })),
    previous_hash: nullable(
      Type.String({ description: `Hash of the previous entry, ${HEX}; zeros for the first entry.` }),
    ),
    hash: nullable(
      Type.String({
        description: `SHA-256 of the entry without this field, as canonical JSON (RFC 8785), ${HEX}.`,
      }),
    ),
  },
  { $id: 'AuditEntry', description: 'One audited operation.' },
);
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditHead = Type.Object(
  {
    number: Type.Integer({ minimum: 0, description: 'Number of the last entry; 0 when there is none.' }),
    hash: Type.String({ description: `Hash of the last entry, ${HEX}.` }),
  },
  { $id: 'AuditHead', description: 'The head of the audit chain.' },
);
export type AuditHead = Static<typeof AuditHead>;

const example = {
  number: 3127,
  id: 'entry-01jd3v7k9mq2z5x8',
  created_at: '2026-11-20T08:00:00.000Z',
  account_id: 'account-1',
  key_id: 'key-4k2m9x',
  key_name: 'nightly plans',
  role: 'operator',
  user_email: 'planner@example.com',
  operation: 'createRun',
  outcome: 'done',
  resource: { application_id: 'routing', run_id: 'run-01jd3v7k9mq2z5x8' },
  request_id: 'request-01jd3v7k9-2f',
  address: '192.0.2.17',
  previous_hash: 'b6f1a0d5c2e84793a1d06f5b9c3e7128d4f0a6b59c8e3d7142f6a0b5c9d8e371',
  hash: '3b60f4a6f0aef79b4feb3dfb205f6b4edf5eb1dc23f0c9b88f0f0e5c0a3c5f4f',
};

const QUERY = {
  account_id: Type.Optional(
    idReferenceSchema<AccountId>(
      `Account whose entries to list. The default is your own account. A root key can name any account, including deleted ones, or \`${ALL_ACCOUNTS}\`.`,
    ),
  ),
  key_id: Type.Optional(idReferenceSchema<KeyId>('Only operations with this key.')),
  operation: Type.Optional(
    idReferenceSchema<string>('Only this operation, by its operationId, such as `deleteRun`.'),
  ),
  resource: Type.Optional(
    idReferenceSchema<ApplicationId>('Only operations on this application or in it, by the application id.'),
  ),
};

export const listAuditEntries = defineOperation({
  id: 'listAuditEntries',
  method: 'GET',
  path: '/v1/account/audit',
  tag: 'account',
  summary: 'List the audit log',
  description:
    'Lists audit entries, newest first. The log contains every change through the API that took effect. It also contains every read of secret values, and the calls refused for lack of rights. Only root and admin can read it.',
  right: 'account',
  query: Type.Object({ ...PageQuery, ...WindowQuery, ...QUERY }),
  responses: respond(200, 'A page of entries, newest first.', itemsPage(AuditEntry), { items: [example] }),
});

export const getAuditHead = defineOperation({
  id: 'getAuditHead',
  method: 'GET',
  path: '/v1/account/audit/head',
  tag: 'account',
  summary: 'Get the head of the audit log',
  description:
    'Returns number and hash of the last entry of the chain. Store them outside the server. A person with write access to the database can rewrite the whole chain, but cannot make the rewritten chain contain this hash.',
  right: 'account',
  responses: respond(200, 'The head of the chain.', AuditHead, { number: 3127, hash: example.hash }),
});
