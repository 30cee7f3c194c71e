/** Commands for what signs in: API keys, sessions of the console, and programs that sign in by a code. */
import { cleanLine } from '../../terminal/clean-text.ts';
import { age } from '../../terminal/columns.ts';
import { defineCommand, type Field } from '../resource/define-command.ts';
import { defineResource, printToken } from '../resource/define-resource.ts';
import { revokeOption } from './member-commands.ts';

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

const user_code: Field = ['<code>', 'The code that the program shows, such as WDJB-MJHT.'];

export const defineDeviceCommands = defineResource({
  name: 'devices',
  noun: 'device',
  text: 'Approve or deny the sign-in of a program by its code. The program may be on another machine.',
  get: {
    operation: 'getDeviceAuthorization',
    text: 'Print the program that shows a code, and the address from which it asks.',
    arguments: { user_code },
    example: 'WDJB-MJHT',
  },
  show: ({ client_name, address, status, role, created_at, expires_at }) => ({
    program: client_name,
    address,
    status,
    role,
    asked: created_at,
    expires: expires_at,
  }),
  more: (devices, session) => {
    defineCommand(devices, session, {
      name: 'approve',
      operation: 'approveDeviceAuthorization',
      text: 'Let the program sign in with a new key of yours. A decision is final.',
      arguments: { user_code },
      options: { role: ['<role>', 'The role of the key; otherwise your own.'] },
      example: 'WDJB-MJHT --role operator',
      done: ({ client_name, role }) => `Approved ${cleanLine(client_name)} with the role ${role}.`,
    });
    defineCommand(devices, session, {
      name: 'deny',
      operation: 'denyDeviceAuthorization',
      text: 'Refuse the sign-in of the program. A decision is final.',
      arguments: { user_code },
      example: 'WDJB-MJHT',
      done: ({ client_name }) => `Denied ${cleanLine(client_name)}.`,
    });
  },
});

export const defineSessionCommands = defineResource({
  name: 'sessions',
  noun: 'session',
  text: 'List and end sessions of the console.',
  list: {
    operation: 'listSessions',
    text: 'List the browsers that are signed in to the console, the newest first.',
    columns: {
      SESSION: 'id',
      PERSON: ({ key }) => key.user_email,
      ROLE: ({ key }) => key.role,
      ADDRESS: 'address',
      'LAST USED': age('last_used_at'),
      BROWSER: 'user_agent',
    },
    empty: 'Nobody is signed in to the console.',
  },
  remove: {
    operation: 'endSession',
    words: ['end', 'Ended'],
    text: 'End sessions at once: their browsers are signed out.',
    isMany: true,
    example: 'session-01jd3v7k9mq2z5x8',
  },
});
