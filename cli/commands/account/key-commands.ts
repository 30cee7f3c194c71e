/** Commands for API keys. */
import { age } from '../../terminal/columns.ts';
import { defineResource, printToken } from '../resource/define-resource.ts';
import { revokeOption } from './member-commands.ts';

/** Defines `keys` with its commands. */
export const defineKeyCommands = defineResource({
  name: 'keys',
  noun: 'key',
  text: 'List, create and revoke API keys.',
  list: {
    operation: 'listKeys',
    text: 'List the keys that you may see, the newest first.',
    columns: {
      KEY: 'id',
      NAME: 'name',
      ROLE: 'role',
      OWNER: 'user_email',
      CREATED: age('created_at'),
      'LAST USED': age('last_used_at'),
    },
    empty: 'There are no keys.',
  },
  create: {
    operation: 'createKey',
    text: 'Create a key, and print its token once.',
    arguments: { name: ['<name>', 'The name of the key.'] },
    options: {
      role: ['<role>', 'At most your own role.'],
      user_email: ['<email>', 'The owner of the key; otherwise you.'],
    },
    example: '"nightly plans" --role operator > token',
    print: printToken,
  },
  more: (keys, session) => {
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
        session.output.printSentence(
          { revoked: key_id },
          `Revoked ${key_id}${cascade ? ' and what was made with it' : ''}.`,
          key_id,
        );
      });
  },
});
