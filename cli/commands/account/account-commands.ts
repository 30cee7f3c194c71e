/** Commands for the account of the caller, and for the accounts of a server. */
import { cleanLine } from '../../terminal/clean-text.ts';
import { age } from '../../terminal/columns.ts';
import { defineCommand } from '../resource/define-command.ts';
import { defineResource } from '../resource/define-resource.ts';

export const defineAccountCommands = defineResource({
  name: 'accounts',
  noun: 'account',
  text: 'List, create, rename and delete accounts. Only the role root manages other accounts.',
  list: {
    operation: 'listAccounts',
    text: 'List the accounts of the server, the newest first.',
    columns: { ACCOUNT: 'id', NAME: 'name', CREATED: age('created_at') },
    empty: 'The server has no accounts.',
  },
  create: {
    operation: 'createAccount',
    text: 'Create an account with its first member, and print the token of that member once.',
    arguments: { name: ['<name>', 'The name of the account.'] },
    options: { email: ['<email>', 'The address of the first member, who gets the role admin.'] },
    example: '"Night shift" --email bob@example.com > token',
    // The client sends no token to an operation that works without one, and where sign-up is closed this one does not.
    headers: (session) => ({ authorization: `Bearer ${session.findConnection().token}` }),
    print: (session, body, { email }) => {
      session.output.note(
        `Created ${body.account.id}. Only this output has the token of ${cleanLine(String(email))}.`,
      );
      session.output.printSentence(body, body.token, body.token);
    },
  },
  remove: {
    operation: 'deleteAccount',
    text: 'Delete another account with its applications, runs, members and keys.',
    confirm: (id) => `Delete the account ${id} with everything in it?`,
    example: 'account-4k2m9x',
  },
  more: (accounts, session) =>
    defineCommand(accounts, session, {
      name: 'rename',
      operation: 'updateAccount',
      text: 'Rename your own account.',
      arguments: { name: ['<name>', 'The new name.'] },
      example: '"Day shift"',
      done: ({ id, name }) => `The name of ${id} is ${cleanLine(name)}.`,
    }),
});
