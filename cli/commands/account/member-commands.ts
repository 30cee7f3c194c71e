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
import type { CallResponse } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { ROLES } from '@switchyard/contract/roles.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { confirmDeletion } from '../../session/confirm.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import { listItems } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { formatFields } from '../../terminal/table.ts';

type Member = CallResponse<Operations['getMember']>['body'];
type Invite = CallResponse<Operations['inviteMember']>['body'];

const MEMBER_TEXT = 'The id or the address of the member.';

/** Defines `members` with its commands. */
export function defineMemberCommands(program: Command, session: Session): void {
  const members = program.command('members').description('List, invite, change and remove members.');
  members
    .command('list', { isDefault: true })
    .description('List the members and open invites of the account.')
    .addHelpText('after', '\nExample:\n  switchyard members list')
    .action(() => printMembers(session));
  members
    .command('get')
    .description('Print a member.')
    .argument('<member>', MEMBER_TEXT)
    .addHelpText('after', '\nExample:\n  switchyard members get bob@example.com')
    .action(async (member) => {
      const params = { member_id: await findMember(session, member) };
      printMember(session, (await session.connect().call('getMember', { params })).body);
    });
  members
    .command('invite')
    .description('Invite a person, or renew an open invite. Prints the address that the person opens.')
    .argument('<email>', 'The address of the person.')
    .addOption(
      new Option('--role <role>', 'The role of the person.').choices(ROLES).default('viewer' as const),
    )
    .option('--name <name>', 'The name of the person.')
    .addHelpText('after', '\nExample:\n  switchyard members invite bob@example.com --role operator')
    .action(async (email, { role, name }) => {
      const { body } = await session
        .connect()
        .call('inviteMember', { body: { email, role, ...dropUndefined({ name }) } });
      printInvite(session, body);
    });
  members
    .command('renew-invite')
    .description('Replace an open invite by a new one.')
    .argument('<member>', MEMBER_TEXT)
    .addHelpText('after', '\nExample:\n  switchyard members renew-invite bob@example.com')
    .action(async (member) => {
      const params = { member_id: await findMember(session, member) };
      printInvite(session, (await session.connect().call('renewInvite', { params })).body);
    });
  defineMemberChanges(members, session);
}

function defineMemberChanges(members: Pick<Command, 'command'>, session: Session): void {
  members
    .command('update')
    .description(
      'Change the role or the name of a member. A weaker role revokes what it could not have made.',
    )
    .argument('<member>', MEMBER_TEXT)
    .addOption(new Option('--role <role>', 'The role of the member.').choices(ROLES))
    .option('--name <name>', 'The name of the member.')
    .addOption(keepOption())
    .addOption(revokeOption())
    .addHelpText('after', '\nExample:\n  switchyard members update bob@example.com --role developer')
    .action(async (member, { role, name, keep, revoke }) => {
      const params = { member_id: await findMember(session, member) };
      const { body } = await session
        .connect()
        .call('updateMember', { params, body: dropUndefined({ role, name, keep, revoke }) });
      session.output.print({
        json: body,
        text: () => `${cleanLine(body.email)} has the role ${body.role}.\n`,
        quiet: () => body.id,
      });
    });
  members
    .command('inventory')
    .description(
      'List what a member made and what works without them: keys for others, worker tokens, links.',
    )
    .argument('<member>', MEMBER_TEXT)
    .addHelpText('after', '\nExample:\n  switchyard members inventory bob@example.com')
    .action(async (member) => printInventory(session, await fetchInventory(session, member)));
  members
    .command('delete')
    .alias('remove')
    .description('Remove a member with all keys, sessions and everything in their inventory.')
    .argument('<member>', MEMBER_TEXT)
    .addOption(keepOption())
    .addOption(revokeOption())
    .option('--yes', 'Do not ask.')
    .addHelpText('after', '\nExample:\n  switchyard members delete bob@example.com --keep worker_tokens')
    .action(async (member, { keep = [], revoke = [], yes }) => {
      const { member_id, body } = await fetchInventory(session, member);
      const kinds = listRevokedKinds(INVENTORY_KINDS, { keep, revoke });
      const revoked = body.items.filter(({ kind }) => kinds.includes(kind));
      for (const { kind, id, name, detail } of revoked)
        session.output.note(cleanLine(`Revokes the ${formatInventoryKind(kind)} ${id} (${name}): ${detail}`));
      const what = `Remove the member ${member} with all keys?`;
      await confirmDeletion(session, { what, word: member, yes });
      const query = {
        ...(keep.length > 0 ? { keep: keep.join(',') } : {}),
        ...(revoke.length > 0 ? { revoke: revoke.join(',') } : {}),
      };
      await session.connect().call('deleteMember', { params: { member_id }, query });
      session.output.print({
        json: { deleted: member_id, revoked },
        text: () => `Removed ${member}.${formatRevoked(body.counts, kinds)}\n`,
        quiet: () => member_id,
      });
    });
}

function keepOption() {
  return new Option(
    '--keep <kinds...>',
    'Kinds of their inventory to keep. Everything else is revoked, except invited_keys.',
  ).choices(INVENTORY_KINDS);
}

/** Returns the option for the kinds that a removal or a revocation leaves by default. */
export function revokeOption() {
  return new Option(
    '--revoke <kinds...>',
    'Kinds that are kept by default and revoked now: the first keys of members whom they invited.',
  ).choices(RETAINED_KINDS);
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

function printInventory(session: Session, { body }: { body: MemberInventory }): void {
  session.output.printTable(
    body.items,
    [
      { title: 'KIND', value: ({ kind }) => formatInventoryKind(kind) },
      { title: 'ID', value: ({ id }) => id },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'ACCESS', value: ({ detail }) => detail },
    ],
    { json: body, empty: 'The member made nothing that works without them.', id: ({ id }) => id },
  );
}

async function fetchMembers(session: Session) {
  return (await session.connect().call('listMembers')).body;
}

/** Returns the id of a member who was named by id or address. */
async function findMember(session: Session, text: string): Promise<string> {
  if (!text.includes('@')) return text;
  const members = listItems(await fetchMembers(session));
  const found = members.find(({ email }) => email.toLowerCase() === text.toLowerCase());
  if (found) return found.id;
  throw new CommandError(`The account has no member ${text}.`, EXIT_CODES.notFound);
}

async function printMembers(session: Session): Promise<void> {
  const body = await fetchMembers(session);
  session.output.printTable(
    listItems(body),
    [
      { title: 'MEMBER', value: ({ id }) => id },
      { title: 'EMAIL', value: ({ email }) => email },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'ROLE', value: ({ role }) => role },
      { title: 'INVITE', value: formatInvite },
    ],
    { json: body, empty: 'The account has no members.', id: ({ id }) => id },
  );
}

function printMember({ output }: Session, member: Member): void {
  output.print({
    json: member,
    text: () =>
      formatFields({
        member: member.id,
        email: member.email,
        name: member.name,
        role: member.role,
        invite: formatInvite(member),
        created: member.created_at,
      }),
    quiet: () => member.id,
  });
}

function formatInvite({ pending_invite, invite_expires_at }: Member): string {
  if (!pending_invite) return '';
  return invite_expires_at ? `open until ${invite_expires_at}` : 'withdrawn';
}

function printInvite({ output }: Session, invite: Invite): void {
  output.note(
    `Give this address to ${cleanLine(invite.email)}. It works once, until ${invite.invite_expires_at}.`,
  );
  output.print({
    json: invite,
    text: () => `${cleanLine(invite.invite_url)}\n`,
    quiet: () => invite.id,
  });
}
