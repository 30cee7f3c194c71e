/** Commands for sessions of the console. */
import type { Command } from '@commander-js/extra-typings';
import { listItems } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { formatAge } from '../../terminal/format-time.ts';

/** Defines `sessions` with its commands. */
export function defineSessionCommands(program: Command, session: Session): void {
  const sessions = program.command('sessions').description('List and end sessions of the console.');
  sessions
    .command('list', { isDefault: true })
    .description('List the browsers that are signed in to the console, the newest first.')
    .addHelpText('after', '\nExample:\n  switchyard sessions list')
    .action(() => printSessions(session));
  sessions
    .command('end')
    .description('End sessions at once: their browsers are signed out.')
    .argument('<session...>', 'The ids of the sessions.')
    .addHelpText('after', '\nExample:\n  switchyard sessions end session-01jd3v7k9mq2z5x8')
    .action(async (ids) => {
      for (const session_id of ids) await session.connect().call('endSession', { params: { session_id } });
      session.output.print({
        json: { ended: ids },
        text: () => `Ended ${ids.map(cleanLine).join(', ')}.\n`,
        quiet: () => ids,
      });
    });
}

async function printSessions(session: Session): Promise<void> {
  const { body } = await session.connect().call('listSessions');
  const now = Date.now();
  session.output.printTable(
    listItems(body),
    [
      { title: 'SESSION', value: ({ id }) => id },
      { title: 'PERSON', value: ({ key }) => key.user_email },
      { title: 'ROLE', value: ({ key }) => key.role },
      { title: 'ADDRESS', value: ({ address }) => address },
      { title: 'LAST USED', value: ({ last_used_at }) => formatAge(Date.parse(last_used_at), now) },
      { title: 'BROWSER', value: ({ user_agent }) => user_agent },
    ],
    { json: body, empty: 'Nobody is signed in to the console.', id: ({ id }) => id },
  );
}
