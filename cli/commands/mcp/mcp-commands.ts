/** The command that serves agents by the Model Context Protocol. */
import type { Command } from '@commander-js/extra-typings';
import type { Session } from '../../session/session.ts';
import { VERSION } from '../../session/version.ts';

export function defineMcpCommands(program: Command, session: Session): void {
  program
    .command('mcp')
    .description(
      'Serve agents by the Model Context Protocol. It uses standard input and output, with the rights of the profile.',
    )
    .option('--read-only', 'Offer no tool that changes anything on the server.')
    .addHelpText(
      'after',
      '\nExample:\n  claude mcp add switchyard -- switchyard mcp --profile production --read-only',
    )
    .action(async ({ readOnly }) => {
      // The library takes a tenth of a second to load, which other commands need not wait for.
      const { serveMcp } = await import('./serve.ts');
      await serveMcp(session.connect(), session.terminal, {
        version: VERSION,
        readOnly: readOnly ?? false,
      });
    });
}
