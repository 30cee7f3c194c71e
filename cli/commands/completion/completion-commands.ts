/** The command that prints completions for shells. */
import { Argument, type Command } from '@commander-js/extra-typings';
import type { Session } from '../../session/session.ts';
import { listCommandNodes } from './command-tree.ts';
import { formatCompletion, SHELLS } from './format-completion.ts';

/** Defines `completion`. */
export function defineCompletionCommands(program: Command, session: Session): void {
  program
    .command('completion')
    .description('Print the completions of commands, options and application ids for a shell.')
    .addArgument(new Argument('<shell>', 'The shell.').choices(SHELLS))
    .addHelpText('after', '\nExample:\n  source <(switchyard completion bash)')
    .action((shell) => {
      session.terminal.out.write(formatCompletion(shell, listCommandNodes(program)));
    });
}
