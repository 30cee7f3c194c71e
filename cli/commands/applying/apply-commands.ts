/** Commands for a file in Git that describes the resources of an account. */
import type { Command } from '@commander-js/extra-typings';
import { applyFile, printPlan } from '../../applying/apply-file.ts';
import { FILE_NAME } from '../../applying/read-file.ts';
import type { Session } from '../../session/session.ts';

const FILE_TEXT = 'The file that describes the resources.';
const PRUNE_TEXT =
  'Also delete instances, secrets collections and webhooks that a section of the file does not name. Applications are deleted only with "delete: true".';

/** Defines `plan` and `apply`. */
export function defineApplyCommands(program: Command, session: Session): void {
  program
    .command('plan')
    .description(
      'Print the difference between a file and the server: created, updated and deleted resources.',
    )
    .option('--file <file>', FILE_TEXT, FILE_NAME)
    .option('--prune', PRUNE_TEXT)
    .option('--check', 'Exit with 1 if there is a difference, as for a job that watches for changes by hand.')
    .addHelpText(
      'after',
      `
The file has applications with instances, secrets collections, retention and quotas, and webhooks
and quotas of the account. A field that the file does not have stays as it is. "delete: true"
deletes a resource. Values of secrets are references: "from: {env: NAME}" or "from: {file: PATH}".
The schema is switchyard.schema.json in the package.

Example:
  switchyard plan --file switchyard.yaml`,
    )
    .action(({ file, prune, check }) => printPlan(session, { file, prune, isChecked: check === true }));
  program
    .command('apply')
    .description('Make the server like a file: print the difference, ask, and make the changes.')
    .option('--file <file>', FILE_TEXT, FILE_NAME)
    .option('--prune', PRUNE_TEXT)
    .option('-y, --yes', 'Make the changes without a question.')
    .option('--plan <id>', 'Make the changes only if they are this plan, whose id "switchyard plan" printed.')
    .addHelpText(
      'after',
      `
Each resource is read again before its change. If somebody else changed it since the plan, the
command ends with exit code 5; the changes before it stay, and a second apply makes the rest.

Example:
  switchyard apply --yes --plan 0f3a9c1d2b4e5f60`,
    )
    .action((options) => applyFile(session, options));
}
