/**
 * Accounts in the form of the published client, which calls them organisations. Each operation is a view of the operations on
 * accounts and members; nothing is stored besides them.
 */
import Type, { type Static } from 'typebox';
import { ORGANIZATION_ADMINS_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { ROLES } from '../roles.ts';
import { emailSchema, nameSchema, nullable, optionalNullable, stringEnum } from '../schemas/field-schemas.ts';
import { type AccountId, idSchema } from '../schemas/ids.ts';

const OrganizationMember = Type.Object(
  {
    email: Type.String({ description: 'E-mail address of the person.' }),
    role: nullable(
      stringEnum(
        ROLES.filter((role) => role !== 'unassigned'),
        'Role of the member; null for unassigned, which the client does not know.',
      ),
    ),
    pending_invite: Type.Boolean({ description: 'true until the person has accepted an invite.' }),
  },
  { $id: 'OrganizationMember', description: 'A person of the organisation.' },
);
export type OrganizationMember = Static<typeof OrganizationMember>;

export const Organization = Type.Object(
  {
    id: idSchema<AccountId>('Id of the account.'),
    name: Type.String({ description: 'Name of the account.' }),
    members: Type.Array(OrganizationMember, { description: 'The people of the account, newest first.' }),
  },
  { $id: 'Organization', description: 'An account, which the published client calls organisation.' },
);
export type Organization = Static<typeof Organization>;

const NewOrganization = Type.Object(
  {
    ...Organization.properties,
    members: Type.Array(
      Type.Object(
        {
          ...OrganizationMember.properties,
          invite_url: Type.String({
            description: 'Page on which the person accepts the invite. Only this response shows it.',
          }),
        },
        { description: 'An invited admin.' },
      ),
      { description: 'The invited admins.' },
    ),
  },
  { $id: 'NewOrganization', description: 'A new organisation, with the invites to send.' },
);

const OrganizationCreate = Type.Object(
  {
    name: nameSchema('organisation'),
    admins: Type.Array(emailSchema('E-mail address of an admin.'), {
      minItems: 1,
      maxItems: ORGANIZATION_ADMINS_MAX,
      description: `E-mail addresses of the admins, at most ${ORGANIZATION_ADMINS_MAX}.`,
    }),
  },
  { $id: 'OrganizationCreate', additionalProperties: false, description: 'The organisation to create.' },
);

const OrganizationUpdate = Type.Object(
  { name: optionalNullable(nameSchema('organisation')) },
  { $id: 'OrganizationUpdate', description: 'The fields to change. Others may have their present values.' },
);

const OrganizationParams = Type.Object({ organization_id: idSchema<AccountId>('Id of the account.') });

const example = {
  id: 'account-1',
  name: 'Main account',
  members: [{ email: 'ada@example.com', role: 'admin', pending_invite: false }],
};

export const createOrganization = defineOperation({
  id: 'createOrganization',
  method: 'POST',
  path: '/v1/organization',
  tag: 'accounts',
  summary: 'Create an organisation',
  description:
    'Creates an account and invites its admins. Send each `invite_url` to its person; no later response shows it. A root key can always create organisations, an admin where the operator allows sign-up.',
  right: 'account',
  returnsToken: true,
  body: {
    schema: OrganizationCreate,
    example: { name: 'Night shift', admins: ['sam@example.com'] },
  },
  responses: respond(201, 'The organisation with the invites.', NewOrganization, {
    id: 'account-2',
    name: 'Night shift',
    members: [
      {
        email: 'sam@example.com',
        role: 'admin',
        pending_invite: true,
        invite_url: 'http://127.0.0.1:8080/sign-up?invite=Vb0k4…',
      },
    ],
  }),
});

export const getOrganization = defineOperation({
  id: 'getOrganization',
  method: 'GET',
  path: '/v1/organization/{organization_id}',
  tag: 'accounts',
  summary: 'Get an organisation',
  description:
    'Returns the account of the caller with its people. A root key gets any account. Every other id returns 404.',
  right: 'read',
  params: OrganizationParams,
  responses: respond(200, 'The organisation.', Organization, example),
});

export const updateOrganization = defineOperation({
  id: 'updateOrganization',
  method: 'PUT',
  path: '/v1/organization/{organization_id}',
  tag: 'accounts',
  summary: 'Rename an organisation',
  description:
    'Changes the name of the account of the caller, or with a root key of any account. You can send back the whole object. Another value of a field that this request cannot change returns 400.',
  right: 'account',
  params: OrganizationParams,
  body: { schema: OrganizationUpdate, example: { name: 'Night shift' } },
  responses: respond(200, 'The organisation.', Organization, example),
});

export const deleteOrganization = defineOperation({
  id: 'deleteOrganization',
  method: 'DELETE',
  path: '/v1/organization/{organization_id}',
  tag: 'accounts',
  summary: 'Delete an organisation',
  description:
    'Deletes another account with all its resources, as the operation on accounts does. The account of the key itself returns 400.',
  right: 'server',
  params: OrganizationParams,
  responses: { 204: { description: 'The organisation is deleted.' } },
});
