/**
 * Members are the people of an account. What a person may do is their role: none of their keys may do more. A person comes
 * in by an invite, a link that is handed on and good once, because a self-hosted server sends no e-mail.
 */
import Type, { type Static } from 'typebox';
import { INVITE_TTL_SECONDS } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { email, nullable, optionalNullable, text, timestamp } from '../schemas/field-schemas.ts';
import { idSchema, type MemberId } from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';
import { AccountSummary, Key, memberRole } from './account.ts';

const INVITE_DAYS = INVITE_TTL_SECONDS / (24 * 60 * 60);
const personName = text('Name of the person, at most 48 characters.', { max: 48 });

export const Member = Type.Object(
  {
    id: idSchema<MemberId>('Id of the member.'),
    email: Type.String({ description: 'E-mail address of the person; shown on what they do.' }),
    name: Type.String({ description: 'Name of the person; empty when none was given.' }),
    role: memberRole,
    pending_invite: Type.Boolean({ description: 'true until the person has accepted an invite.' }),
    invite_expires_at: nullable(
      timestamp('Until when the open invite is good; null when there is no open invite'),
    ),
    created_at: timestamp('When the member was added'),
    updated_at: timestamp('When the member was last changed'),
  },
  { $id: 'Member', description: 'A person of the account.' },
);
export type Member = Static<typeof Member>;

const MemberCreate = Type.Object(
  { email: email('E-mail address of the person.'), role: memberRole, name: optionalNullable(personName) },
  { $id: 'MemberCreate', additionalProperties: false, description: 'The person to invite.' },
);

const MemberUpdate = Type.Object(
  { role: optionalNullable(memberRole), name: optionalNullable(personName) },
  { $id: 'MemberUpdate', description: 'What to change; every other field is ignored.' },
);

export const Invite = Type.Object(
  {
    ...Member.properties,
    invite: Type.String({ description: 'The invite. It is shown this once.' }),
    invite_url: Type.String({ description: 'The page where the person accepts the invite.' }),
  },
  { $id: 'Invite', description: 'A member with an invite to hand on.' },
);

const InviteAccept = Type.Object(
  {
    invite: text('The invite.', { min: 1, max: 1024 }),
    name: optionalNullable(personName),
  },
  { $id: 'InviteAccept', additionalProperties: false, description: 'The invite to accept.' },
);

/** What somebody who comes in is given, by sign-up or by invite. */
export const Admission = Type.Object(
  {
    account: AccountSummary,
    member: Member,
    key: Key,
    token: Type.String({ description: 'The bearer token of the key. It is shown this once.' }),
  },
  { $id: 'Admission', description: 'The account, the member, and a key of theirs with its token.' },
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

/** An admission as the documents show it. */
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
      created_by: null,
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
  description: `Adds a person to the account and answers an invite, this once. Hand \`invite_url\` on to the person; it is good for ${INVITE_DAYS} days and works once. Nobody can give a role with rights they do not have.`,
  right: 'account',
  returnsToken: true,
  body: { schema: MemberCreate, example: { email: 'ada@example.com', role: 'developer', name: 'Ada' } },
  responses: { 201: { description: 'The member with the invite.', schema: Invite, example: inviteExample } },
});

export const listMembers = defineOperation({
  id: 'listMembers',
  method: 'GET',
  path: '/v1/account/members',
  tag: 'account',
  summary: 'List members',
  description: 'Lists the people of the account, those included who have not accepted their invite yet.',
  right: 'read',
  query: Type.Object(PageQuery),
  responses: {
    200: { description: 'The members, newest first.', schema: pageOrArray(Member), example: [memberExample] },
  },
});

export const getMember = defineOperation({
  id: 'getMember',
  method: 'GET',
  path: '/v1/account/members/{member_id}',
  tag: 'account',
  summary: 'Get a member',
  description: 'One person of the account.',
  right: 'read',
  params: MemberParams,
  responses: { 200: { description: 'The member.', schema: Member, example: joinedExample } },
  errors: [404],
});

export const updateMember = defineOperation({
  id: 'updateMember',
  method: 'PUT',
  path: '/v1/account/members/{member_id}',
  tag: 'account',
  summary: 'Change a member',
  description:
    'Changes the role or the name. Keys of the member that may do more than the new role are revoked at once; a role with more rights gives no key more rights, so make a new one. The last member, or the last key, that may manage the account stays as it is.',
  right: 'account',
  params: MemberParams,
  body: { schema: MemberUpdate, example: { role: 'operator' } },
  responses: {
    200: {
      description: 'The changed member.',
      schema: Member,
      example: { ...joinedExample, role: 'operator' },
    },
  },
  errors: [404],
});

export const deleteMember = defineOperation({
  id: 'deleteMember',
  method: 'DELETE',
  path: '/v1/account/members/{member_id}',
  tag: 'account',
  summary: 'Remove a member',
  description:
    'Removes a person, or withdraws an invite. Every key whose `user_email` is the member’s stops working at once, and so do open invites the member made. The last member, or the last key, that may manage the account stays.',
  right: 'account',
  params: MemberParams,
  responses: { 204: { description: 'The member is removed.' } },
  errors: [404],
});

export const renewInvite = defineOperation({
  id: 'renewInvite',
  method: 'POST',
  path: '/v1/account/members/{member_id}/invite',
  tag: 'account',
  summary: 'Renew an invite',
  description: `Answers a new invite for the member, good for ${INVITE_DAYS} days; the one before stops working. A member who has accepted already gets one more key with it.`,
  right: 'account',
  returnsToken: true,
  params: MemberParams,
  responses: { 201: { description: 'The member with the invite.', schema: Invite, example: inviteExample } },
  errors: [404],
});

export const acceptInvite = defineOperation({
  id: 'acceptInvite',
  method: 'POST',
  path: '/v1/account/invites/accept',
  tag: 'account',
  summary: 'Accept an invite',
  description:
    'Makes a key with the role of the invited member and answers its token, this once. Needs no token: the invite says who comes in. An invite that was altered, used, replaced or withdrawn, or is too old, is a 403.',
  right: 'public',
  body: { schema: InviteAccept, example: { invite: 'Vb0k4…', name: 'Ada' } },
  responses: {
    201: {
      description: 'The account, the member and the key with its token.',
      schema: Admission,
      example: admissionExample('developer'),
    },
  },
  errors: [403],
});
