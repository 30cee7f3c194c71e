/** Commands for members and their invites. */
import { type Command, Option } from '@commander-js/extra-typings';
import {
  formatInventoryKind,
  INVENTORY_KINDS,
  type InventoryKind,
  listRevokedKinds,
  type MemberInventory,
  RETAINED_KINDS,
} from '@switchyard/contract/account/inventory.ts';
import type { Member } from '@switchyard/contract/account/members.ts';
import type { ResponseBody } from '@switchyard/contract/client.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { confirm } from '../../session/confirm.ts';
import { listItems } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { defineCommand, type Field, type Parent, type Values } from '../resource/define-command.ts';
import { defineList, defineResource } from '../resource/define-resource.ts';

const MEMBER_TEXT = 'The id or the address of the member.';
const KEEP_TEXT = 'Kinds of their inventory to keep. Everything else is revoked, except invited_keys.';
const REVOKE_TEXT =
  'Kinds that are kept by default and revoked now: the first keys of members whom they invited.';
const member_id: Field = ['<member>', MEMBER_TEXT];

export const defineMemberCommands = defineResource({
  name: 'members',
  noun: 'member',
  text: 'List, invite, change and remove members.',
  argument: MEMBER_TEXT,
  find: findMember,
  list: {
    operation: 'listMembers',
    text: 'List the members and open invites of the account.',
    columns: { MEMBER: 'id', EMAIL: 'email', NAME: 'name', ROLE: 'role', INVITE: formatInvite },
  },
  get: { operation: 'getMember', text: 'Print a member.', example: 'bob@example.com' },
  show: (member) => ({
    member: member.id,
    email: member.email,
    name: member.name,
    role: member.role,
    invite: formatInvite(member),
    created: member.created_at,
  }),
  more: (members, session) => {
    defineInvites(members, session);
    defineMemberChanges(members, session);
  },
});

/** Replaces the address of the member by the id. */
async function findId(values: Values, session: Session): Promise<Values> {
  return { ...values, member_id: await findMember(session, String(values.member_id)) };
}

function defineInvites(members: Parent, session: Session): void {
  defineCommand(members, session, {
    name: 'invite',
    operation: 'inviteMember',
    text: 'Invite a person, or renew an open invite. Prints the address that the person opens.',
    arguments: { email: ['<email>', 'The address of the person.'] },
    options: {
      role: ['<role>', 'The role of the person.', { initial: 'viewer' }],
      name: ['<name>', 'The name of the person.'],
    },
    example: 'bob@example.com --role operator',
    print: printInvite,
  });
  defineCommand(members, session, {
    name: 'renew-invite',
    operation: 'renewInvite',
    text: 'Replace an open invite by a new one.',
    arguments: { member_id },
    prepare: findId,
    example: 'bob@example.com',
    print: printInvite,
  });
}

function defineMemberChanges(members: Command, session: Session): void {
  defineCommand(members, session, {
    name: 'update',
    operation: 'updateMember',
    text: 'Change the role or the name of a member. A weaker role revokes what it could not have made.',
    arguments: { member_id },
    options: {
      role: ['<role>', 'The role of the member.'],
      name: ['<name>', 'The name of the member.'],
      keep: ['<kinds...>', KEEP_TEXT],
      revoke: ['<kinds...>', REVOKE_TEXT],
    },
    prepare: findId,
    isChange: true,
    example: 'bob@example.com --role developer',
    done: ({ email, role }) => `${cleanLine(email)} has the role ${role}.`,
  });
  defineList(members, session, {
    name: 'inventory',
    operation: 'getMemberInventory',
    text: 'List what a member made and what works without them: keys for others, worker tokens, links.',
    arguments: { member_id },
    prepare: findId,
    columns: { KIND: ({ kind }) => formatInventoryKind(kind), ID: 'id', NAME: 'name', ACCESS: 'detail' },
    empty: 'The member made nothing that works without them.',
    example: 'bob@example.com',
  });
  members
    .command('delete')
    .alias('remove')
    .description('Remove a member with all keys, sessions and everything in their inventory.')
    .argument('<member>', MEMBER_TEXT)
    .addOption(new Option('--keep <kinds...>', KEEP_TEXT).choices(INVENTORY_KINDS))
    .addOption(revokeOption())
    .option('--yes', 'Do not ask.')
    .addHelpText(
      'after',
      '\nExample:\n  switchyard members delete bob@example.com --keep worker_tokens --yes',
    )
    .action(async (member, { keep = [], revoke = [], yes }) => {
      const { member_id, body } = await fetchInventory(session, member);
      const kinds = listRevokedKinds(INVENTORY_KINDS, { keep, revoke });
      const revoked = body.items.filter(({ kind }) => kinds.includes(kind));
      for (const { kind, id, name, detail } of revoked)
        session.output.note(cleanLine(`Revokes the ${formatInventoryKind(kind)} ${id} (${name}): ${detail}`));
      const what = `Remove the member ${member} with all keys?`;
      await confirm(session, { what, word: member, yes });
      const query = {
        ...(keep.length > 0 ? { keep: keep.join(',') } : {}),
        ...(revoke.length > 0 ? { revoke: revoke.join(',') } : {}),
      };
      await session.connect().call('deleteMember', { params: { member_id }, query });
      session.output.printSentence(
        { deleted: member_id, revoked },
        `Removed ${member}.${formatRevoked(body.counts, kinds)}`,
        member_id,
      );
    });
}

/** Returns the option for the kinds that a removal or a revocation leaves by default. */
export function revokeOption() {
  return new Option('--revoke <kinds...>', REVOKE_TEXT).choices(RETAINED_KINDS);
}

/** Returns a sentence with the number of revoked things; empty when there are none. */
function formatRevoked(counts: MemberInventory['counts'], kinds: readonly InventoryKind[]): string {
  const parts = kinds.filter((kind) => counts[kind] > 0);
  if (parts.length === 0) return '';
  return ` Revoked ${parts.map((kind) => formatInventoryKind(kind, counts[kind])).join(', ')}.`;
}

async function fetchInventory(session: Session, member: string) {
  const member_id = await findMember(session, member);
  const { body } = await session.connect().call('getMemberInventory', { params: { member_id } });
  return { member_id, body };
}

/** Returns the id of a member who was named by id or address. */
async function findMember(session: Session, text: string): Promise<string> {
  if (!text.includes('@')) return text;
  const members = listItems((await session.connect().call('listMembers')).body);
  const found = members.find(({ email }) => email.toLowerCase() === text.toLowerCase());
  if (found) return found.id;
  throw new CommandError(`The account has no member ${text}.`, EXIT_CODES.notFound);
}

function formatInvite({ pending_invite, invite_expires_at }: Member): string {
  if (!pending_invite) return '';
  return invite_expires_at ? `open until ${invite_expires_at}` : 'withdrawn';
}

function printInvite({ output }: Session, invite: ResponseBody<'inviteMember'>): void {
  output.note(
    `Give this address to ${cleanLine(invite.email)}. It works once, until ${invite.invite_expires_at}.`,
  );
  output.printSentence(invite, cleanLine(invite.invite_url), invite.id);
}
