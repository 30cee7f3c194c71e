/** The audit log: who did what, when, to which resource. Entries are only ever added, and each holds the hash of the one before. */
import Type, { type Static } from 'typebox';
import { defineOperation } from '../operation.ts';
import { ROLES } from '../roles.ts';
import { mapOf, nullable, stringEnum, timestamp } from '../schemas/field-schemas.ts';
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
 * `done`: it took effect, or a secret was read. `refused`: the role of the key did not have the right to it; the first in
 * a minute of a key and an operation.
 */
const AUDIT_OUTCOMES = ['done', 'refused'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** What `account_id` of the list says for the entries of every account. */
export const ALL_ACCOUNTS = 'all';

/** What the first entry has for the hash of the one before. */
export const FIRST_PREVIOUS_HASH = '0'.repeat(64);

const HEX = '64 hexadecimal digits';

export const AuditEntry = Type.Object(
  {
    number: nullable(
      Type.Integer({
        minimum: 1,
        description:
          'Its place in the one chain of the server, from 1; null for the second or so until it has one.',
      }),
    ),
    id: idSchema<EntryId>('Id of the entry.'),
    created_at: timestamp('When it was done'),
    account_id: nullable(idSchema<AccountId>('Account in which it was done.')),
    key_id: nullable(idSchema<KeyId>('Key that did it; null for what was done without a token.')),
    key_name: nullable(Type.String({ description: 'Name of the key at that time.' })),
    role: nullable(stringEnum(ROLES, 'Role of the key at that time.')),
    user_email: nullable(Type.String({ description: 'Whose key it was at that time.' })),
    operation: Type.String({
      description: 'The operationId; `firstStart` for the first key, which the server makes by itself.',
    }),
    outcome: stringEnum(
      AUDIT_OUTCOMES,
      '`done` when it took effect, `refused` when the role did not have the right to it.',
    ),
    resource: mapOf(
      Type.String(),
      'What it was done to: the ids in the path by their names there, and the id of what it made.',
    ),
    request_id: nullable(Type.String({ description: 'Id of the request, as the log of the server has it.' })),
    address: nullable(Type.String({ description: 'Address that the request came from.' })),
    previous_hash: nullable(
      Type.String({ description: `Hash of the entry before, ${HEX}; zeros for the first.` }),
    ),
    hash: nullable(
      Type.String({
        description: `SHA-256 of the entry without this field, as canonical JSON (RFC 8785), ${HEX}.`,
      }),
    ),
  },
  { $id: 'AuditEntry', description: 'One thing that somebody did.' },
);
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditHead = Type.Object(
  {
    number: Type.Integer({ minimum: 0, description: 'Number of the last entry; 0 when there is none.' }),
    hash: Type.String({ description: `Hash of the last entry, ${HEX}.` }),
  },
  { $id: 'AuditHead', description: 'Where the chain ends.' },
);
export type AuditHead = Static<typeof AuditHead>;

const example: AuditEntry = {
  number: 3127,
  id: 'entry-01jd3v7k9mq2z5x8' as EntryId,
  created_at: '2026-11-20T08:00:00.000Z',
  account_id: 'account-1' as AccountId,
  key_id: 'key-4k2m9x' as KeyId,
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
      `Whose entries. Your own account when absent; with a root key any account, deleted ones too, or \`${ALL_ACCOUNTS}\`.`,
    ),
  ),
  key_id: Type.Optional(idReferenceSchema<KeyId>('Only what this key did.')),
  operation: Type.Optional(
    idReferenceSchema<string>('Only this operation: its operationId, such as `deleteRun`.'),
  ),
  resource: Type.Optional(
    idReferenceSchema<ApplicationId>(
      'Only what was done to this application or in it: the id of the application.',
    ),
  ),
};

export const listAuditEntries = defineOperation({
  id: 'listAuditEntries',
  method: 'GET',
  path: '/v1/account/audit',
  tag: 'account',
  summary: 'List the audit log',
  description:
    'Lists who did what, newest first: every change by the API that took effect, every look at the values of secrets, and what was refused for lack of rights. Only root and admin may see it.',
  right: 'account',
  query: Type.Object({ ...PageQuery, ...WindowQuery, ...QUERY }),
  responses: {
    200: {
      description: 'A page of entries, newest first.',
      schema: itemsPage(AuditEntry),
      example: { items: [example] },
    },
  },
});

export const getAuditHead = defineOperation({
  id: 'getAuditHead',
  method: 'GET',
  path: '/v1/account/audit/head',
  tag: 'account',
  summary: 'Get the end of the audit log',
  description:
    'Tells number and hash of the last entry of the chain. Keep them outside the server: whoever can write to its database could write the whole chain anew, but not so that this hash is in it.',
  right: 'account',
  responses: {
    200: {
      description: 'Where the chain ends.',
      schema: AuditHead,
      example: { number: 3127, hash: example.hash },
    },
  },
});
