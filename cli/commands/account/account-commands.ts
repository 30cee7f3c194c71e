/** Commands for the account of the caller, and for the accounts of a server. */
import type { Command } from '@commander-js/extra-typings';
import { confirmDeletion } from '../../session/confirm.ts';
import { listItems } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { formatAge } from '../../terminal/format-time.ts';
import { printDeletedOne } from '../print-deleted.ts';

/** Defines `accounts` with its commands. */
export function defineAccountCommands(program: Command, session: Session): void {
  const accounts = program
    .command('accounts')
    .description('List, create, rename and delete accounts. Only the role root manages other accounts.');
  accounts
    .command('list', { isDefault: true })
    .description('List the accounts of the server, the newest first.')
    .addHelpText('after', '\nExample:\n  switchyard accounts list')
    .action(() => printAccounts(session));
  accounts
    .command('create')
    .description('Create an account with its first member, and print the token of that member once.')
    .argument('<name>', 'The name of the account.')
    .requiredOption('--email <email>', 'The address of the first member, who gets the role admin.')
    .addHelpText(
      'after',
      '\nExample:\n  switchyard accounts create "Night shift" --email bob@example.com > token',
    )
    .action(async (name, { email }) => {
      // The client sends no token to an operation that works without one, and where sign-up is closed this one does not.
      const headers = { authorization: `Bearer ${session.findConnection().token}` };
      const { body } = await session.connect().call('createAccount', { body: { name, email }, headers });
      session.output.note(
        `Created ${body.account.id}. Only this output has the token of ${cleanLine(email)}.`,
      );
      session.output.print({ json: body, text: () => `${body.token}\n`, quiet: () => body.token });
    });
  accounts
    .command('rename')
    .description('Rename your own account.')
    .argument('<name>', 'The new name.')
    .addHelpText('after', '\nExample:\n  switchyard accounts rename "Day shift"')
    .action(async (name) => {
      const { body } = await session.connect().call('updateAccount', { body: { name } });
      session.output.print({
        json: body,
        text: () => `The name of ${body.id} is ${cleanLine(body.name)}.\n`,
        quiet: () => body.id,
      });
    });
  accounts
    .command('delete')
    .description('Delete another account with its applications, runs, members and keys.')
    .argument('<account>', 'The id of the account.')
    .option('--yes', 'Do not ask.')
    .addHelpText('after', '\nExample:\n  switchyard accounts delete account-4k2m9x')
    .action(async (account_id, { yes }) => {
      const what = `Delete the account ${account_id} with everything in it?`;
      await confirmDeletion(session, { what, word: account_id, yes });
      await session.connect().call('deleteAccount', { params: { account_id } });
      printDeletedOne(session, 'account', account_id);
    });
}

async function printAccounts(session: Session): Promise<void> {
  const { body } = await session.connect().call('listAccounts');
  const now = Date.now();
  session.output.printTable(
    listItems(body),
    [
      { title: 'ACCOUNT', value: ({ id }) => id },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'CREATED', value: ({ created_at }) => formatAge(Date.parse(created_at), now) },
    ],
    { json: body, empty: 'The server has no accounts.', id: ({ id }) => id },
  );
}
