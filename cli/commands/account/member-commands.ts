/** Commands for members and their invites. */
import { type Command, Option } from '@commander-js/extra-typings';
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
    .description('Change the role or the name of a member. Keys with more rights are revoked.')
    .argument('<member>', MEMBER_TEXT)
    .addOption(new Option('--role <role>', 'The role of the member.').choices(ROLES))
    .option('--name <name>', 'The name of the member.')
    .addHelpText('after', '\nExample:\n  switchyard members update bob@example.com --role developer')
    .action(async (member, { role, name }) => {
      const params = { member_id: await findMember(session, member) };
      const { body } = await session
        .connect()
        .call('updateMember', { params, body: dropUndefined({ role, name }) });
      session.output.print({
        json: body,
        text: () => `${cleanLine(body.email)} has the role ${body.role}.\n`,
        quiet: () => body.id,
      });
    });
  members
    .command('delete')
    .description('Remove a member with all keys and sessions.')
    .argument('<member>', MEMBER_TEXT)
    .option('--yes', 'Do not ask.')
    .addHelpText('after', '\nExample:\n  switchyard members delete bob@example.com')
    .action(async (member, { yes }) => {
      const params = { member_id: await findMember(session, member) };
      const what = `Remove the member ${member} with all keys?`;
      await confirmDeletion(session, { what, word: member, yes });
      await session.connect().call('deleteMember', { params });
      session.output.print({
        json: { deleted: params.member_id },
        text: () => `Removed ${member}.\n`,
        quiet: () => params.member_id,
      });
    });
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
