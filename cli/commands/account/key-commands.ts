/** Commands for API keys. */
import { type Command, Option } from '@commander-js/extra-typings';
import { ROLES } from '@switchyard/contract/roles.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import { listItems } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { formatAge } from '../../terminal/format-time.ts';
import { revokeOption } from './member-commands.ts';

/** Defines `keys` with its commands. */
export function defineKeyCommands(program: Command, session: Session): void {
  const keys = program.command('keys').description('List, create and revoke API keys.');
  keys
    .command('list', { isDefault: true })
    .description('List the keys that you may see, the newest first.')
    .addHelpText('after', '\nExample:\n  switchyard keys list')
    .action(() => printKeys(session));
  keys
    .command('create')
    .description('Create a key, and print its token once.')
    .argument('<name>', 'The name of the key.')
    .addOption(new Option('--role <role>', 'At most your own role.').choices(ROLES).makeOptionMandatory())
    .option('--user-email <email>', 'The owner of the key; otherwise you.')
    .addHelpText('after', '\nExample:\n  switchyard keys create "nightly plans" --role operator > token')
    .action(async (name, { role, userEmail: user_email }) => {
      const { body } = await session
        .connect()
        .call('createKey', { body: { name, role, ...dropUndefined({ user_email }) } });
      session.output.note(`Created ${body.id}. Only this output has its token.`);
      session.output.print({ json: body, text: () => `${body.token}\n`, quiet: () => body.token });
    });
  keys
    .command('revoke')
    .description('Revoke a key at once, with everything that was made with it.')
    .argument('<key>', 'The id of the key.')
    .option('--cascade', 'Revoke what was made with it too; this is the default.')
    .option(
      '--no-cascade',
      'Keep the keys, worker tokens, trust, share links and webhooks that were made with it.',
    )
    .addOption(revokeOption())
    .addHelpText('after', '\nExample:\n  switchyard keys revoke key-4k2m9x')
    .action(async (key_id, { cascade = true, revoke }) => {
      const query = { cascade, ...(revoke ? { revoke: revoke.join(',') } : {}) };
      await session.connect().call('revokeKey', { params: { key_id }, query });
      session.output.print({
        json: { revoked: key_id },
        text: () => `Revoked ${key_id}${cascade ? ' and what was made with it' : ''}.\n`,
        quiet: () => key_id,
      });
    });
}

async function printKeys(session: Session): Promise<void> {
  const { body } = await session.connect().call('listKeys');
  const now = Date.now();
  session.output.printTable(
    listItems(body),
    [
      { title: 'KEY', value: ({ id }) => id },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'ROLE', value: ({ role }) => role },
      { title: 'OWNER', value: ({ user_email }) => user_email },
      { title: 'CREATED', value: ({ created_at }) => formatAge(Date.parse(created_at), now) },
      {
        title: 'LAST USED',
        value: ({ last_used_at }) => (last_used_at ? formatAge(Date.parse(last_used_at), now) : 'never'),
      },
    ],
    { json: body, empty: 'There are no keys.', id: ({ id }) => id },
  );
}
