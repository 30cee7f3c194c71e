/**
 * Members are the people of an account. A member's role bounds the rights of their keys. A person joins with an invite:
 * a link that works once. The inviter passes the link on, because a self-hosted server sends no e-mail.
 */
import Type, { type Static } from 'typebox';
import { INVITE_TTL_SECONDS } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { conditionFields } from '../schemas/conditional-writes.ts';
import {
  emailSchema,
  nameTextSchema,
  nullable,
  optionalNullable,
  stringEnum,
  textSchema,
  timestampSchema,
} from '../schemas/field-schemas.ts';
import { idSchema, type MemberId } from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';
import { AccountSummary, Key, memberRole } from './account.ts';
import { INVENTORY_KINDS, KEEP_ALL, RETAINED_KINDS, revokeQuery } from './inventory.ts';

const INVITE_DAYS = INVITE_TTL_SECONDS / (24 * 60 * 60);
const personName = nameTextSchema('Name of the person, at most 48 characters.', { max: 48 });

export const Member = Type.Object(
  {
    id: idSchema<MemberId>('Id of the member.'),
    email: Type.String({ description: 'E-mail address of the person. Their runs and changes show it.' }),
    name: Type.String({ description: 'Name of the person; empty by default.' }),
    role: memberRole,
    pending_invite: Type.Boolean({ description: 'true until the person has accepted an invite.' }),
    invite_expires_at: nullable(
      timestampSchema('Expiry time of the open invite; null without an open invite'),
    ),
    created_at: timestampSchema('Time at which the member was added'),
    updated_at: timestampSchema('Time of the last change'),
  },
  { $id: 'Member', description: 'A person of the account.' },
);
export type Member = Static<typeof Member>;

const MemberCreate = Type.Object(
  {
    email: emailSchema('E-mail address of the person.'),
    role: memberRole,
    name: optionalNullable(personName),
  },
  { $id: 'MemberCreate', additionalProperties: false, description: 'The person to invite.' },
);

const ANY_KIND = INVENTORY_KINDS.join('|');
const KINDS = INVENTORY_KINDS.map((kind) => `\`${kind}\``).join(', ');

const MemberUpdate = Type.Object(
  {
    role: optionalNullable(memberRole),
    name: optionalNullable(personName),
    keep: optionalNullable(
      Type.Array(stringEnum(INVENTORY_KINDS, 'A kind of the inventory.'), {
        maxItems: INVENTORY_KINDS.length,
        description:
          'Kinds of the inventory to keep, although the new role cannot make such things. By default they are revoked, except `invited_keys`.',
      }),
    ),
    revoke: optionalNullable(
      Type.Array(stringEnum(RETAINED_KINDS, 'A kind of the inventory.'), {
        maxItems: RETAINED_KINDS.length,
        description: 'Kinds of the inventory to revoke which stay by default.',
      }),
    ),
    ...conditionFields,
  },
  { $id: 'MemberUpdate', description: 'The fields to change. Others may have their present values.' },
);

export const Invite = Type.Object(
  {
    ...Member.properties,
    invite: Type.String({ description: 'The invite. Only this response shows it.' }),
    invite_url: Type.String({ description: 'Page on which the person accepts the invite.' }),
  },
  { $id: 'Invite', description: 'A member with an invite to send.' },
);

const InviteAccept = Type.Object(
  {
    invite: textSchema('The invite.', { min: 1, max: 1024 }),
    name: optionalNullable(personName),
  },
  { $id: 'InviteAccept', additionalProperties: false, description: 'The invite to accept.' },
);

/** The response to a sign-up and to an accepted invite. */
export const Admission = Type.Object(
  {
    account: AccountSummary,
    member: Member,
    key: Key,
    token: Type.String({ description: 'The bearer token of the key. Only this response shows it.' }),
  },
  { $id: 'Admission', description: 'The account, the member, and one of their keys with its token.' },
);
export type Admission = Static<typeof Admission>;

const memberExample = {
  id: 'mem-4k2m9x',
  email: 'ada@example.com',
  name: 'Ada',
  role: 'developer',
  pending_invite: true,
  invite_expires_at: '2026-11-27T08:00:00.000Z',
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
};
const joinedExample = { ...memberExample, pending_invite: false, invite_expires_at: null };
const inviteExample = {
  ...memberExample,
  invite: 'Vb0k4…',
  invite_url: 'http://127.0.0.1:8080/sign-up?invite=Vb0k4…',
};

/** Example of an admission for the documents. */
export function admissionExample(role: 'admin' | 'developer') {
  return {
    account: { id: 'account-1', name: 'Main account', created_at: '2026-11-20T08:00:00.000Z' },
    member: { ...joinedExample, role },
    key: {
      id: 'key-4k2m9x',
      name: 'First key',
      role,
      user_email: 'ada@example.com',
      created_at: '2026-11-20T08:00:00.000Z',
      last_used_at: null,
      created_by: { key_id: 'key-1a7c3f', user_email: 'grace@example.com', invite: 'first' as const },
    },
    token: 'eyJhbGciOi…',
  };
}

const MemberParams = Type.Object({ member_id: idSchema<MemberId>('Id of the member.') });

export const inviteMember = defineOperation({
  id: 'inviteMember',
  method: 'POST',
  path: '/v1/account/members',
  tag: 'account',
  summary: 'Invite a member',
  description: `Adds a person to the account and returns an invite. Send \`invite_url\` to the person; it works once, within ${INVITE_DAYS} days. No later response shows the invite. You cannot grant a role with rights that you lack.`,
  right: 'account',
  returnsToken: true,
  body: { schema: MemberCreate, example: { email: 'ada@example.com', role: 'developer', name: 'Ada' } },
  responses: respond(201, 'The member with the invite.', Invite, inviteExample),
});

export const listMembers = defineOperation({
  id: 'listMembers',
  method: 'GET',
  path: '/v1/account/members',
  tag: 'account',
  summary: 'List members',
  description: 'Lists the people of the account, including those who have not accepted their invite.',
  right: 'read',
  query: Type.Object(PageQuery),
  responses: respond(200, 'The members, newest first.', pageOrArray(Member), [memberExample]),
});

export const getMember = defineOperation({
  id: 'getMember',
  method: 'GET',
  path: '/v1/account/members/{member_id}',
  tag: 'account',
  summary: 'Get a member',
  description: 'Returns one person of the account.',
  right: 'read',
  params: MemberParams,
  responses: respond(200, 'The member.', Member, joinedExample),
});

export const updateMember = defineOperation({
  id: 'updateMember',
  method: 'PUT',
  path: '/v1/account/members/{member_id}',
  tag: 'account',
  summary: 'Update a member',
  description:
    'Changes the role or the name. Keys with more rights than the new role are revoked at once. So is everything in the inventory of the member that the new role could not make, unless `keep` names its kind; a webhook is disabled. The keys of members whom they invited stay, unless `revoke` names them. A role with more rights does not extend existing keys: create a new one. You cannot demote the last member, or the last key, with the right to manage the account.',
  right: 'account',
  params: MemberParams,
  body: { schema: MemberUpdate, example: { role: 'operator' } },
  responses: respond(200, 'The updated member.', Member, { ...joinedExample, role: 'operator' }),
});

export const deleteMember = defineOperation({
  id: 'deleteMember',
  method: 'DELETE',
  path: '/v1/account/members/{member_id}',
  tag: 'account',
  summary: 'Remove a member',
  description:
    'Removes a person, or withdraws an invite. Every key whose `user_email` is the member’s stops working at once. Open invites from the member stop working too. Everything in the inventory of the member is revoked with them, unless `keep` names its kind; a webhook is disabled. The keys of members whom they invited stay, unless `revoke` names them. The audit log has an entry for each revoked thing. You cannot remove the last member, or the last key, with the right to manage the account. You cannot revoke the key of the request this way either.',
  right: 'account',
  params: MemberParams,
  query: Type.Object({
    keep: Type.Optional(
      Type.String({
        pattern: `^(${KEEP_ALL}|(${ANY_KIND})(,(${ANY_KIND}))*)$`,
        description: `Kinds of the inventory to keep: ${KINDS}, or \`${KEEP_ALL}\`. Separate several with commas. By default everything is revoked, except \`invited_keys\`.`,
      }),
    ),
    revoke: revokeQuery,
  }),
  responses: { 204: { description: 'The member is removed.' } },
});

export const renewInvite = defineOperation({
  id: 'renewInvite',
  method: 'POST',
  path: '/v1/account/members/{member_id}/invite',
  tag: 'account',
  summary: 'Renew an invite',
  description: `Returns a new invite for the member, valid for ${INVITE_DAYS} days. The previous invite stops working. A member who has already accepted one gets an additional key with it. That key counts as created by you: a person who has the link can accept it.`,
  right: 'account',
  returnsToken: true,
  params: MemberParams,
  responses: respond(201, 'The member with the invite.', Invite, inviteExample),
});

export const acceptInvite = defineOperation({
  id: 'acceptInvite',
  method: 'POST',
  path: '/v1/account/invites/accept',
  tag: 'account',
  summary: 'Accept an invite',
  description:
    'Creates a key with the role of the invited member and returns its token. No later response shows the token. The call needs no token, because the invite identifies the member. The key names the inviter in `created_by`, and so does the audit entry. An altered, used, replaced, withdrawn or expired invite returns 403.',
  right: 'public',
  body: { schema: InviteAccept, example: { invite: 'Vb0k4…', name: 'Ada' } },
  responses: respond(
    201,
    'The account, the member and the key with its token.',
    Admission,
    admissionExample('developer'),
  ),
  errors: [403],
});
