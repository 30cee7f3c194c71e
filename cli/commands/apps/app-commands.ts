/** Commands for applications. */
import type { Command } from '@commander-js/extra-typings';
import type { Session } from '../../session/session.ts';
import { openBrowser } from '../../terminal/open-browser.ts';
import { addApplication } from '../application-argument.ts';
import { definePush } from './push-command.ts';

/** Defines `push` and `open`. */
export function defineAppCommands(program: Command, session: Session): void {
  definePush(program, session);
  defineOpen(program, session);
}

function defineOpen(program: Command, session: Session): void {
  const open = program
    .command('open')
    .description('Open the console at a run or the application, and print its address.')
    .argument('[run]', 'The id of a run.')
    .option('--print', 'Only print the address.')
    .addHelpText(
      'after',
      `
Examples:
  switchyard open
  switchyard open run-01jd3v7k9mq2z5x8 --print`,
    )
    .action((run, { print }) => {
      const url = buildConsoleUrl(session, run);
      if (!print && !openBrowser(session.terminal, url))
        session.output.warn('No browser could be started; open the address yourself.');
      session.output.printSentence({ url }, url, url);
    });
  addApplication(open);
}

function buildConsoleUrl(session: Session, run: string | undefined): string {
  const application = encodeURIComponent(session.findApplication());
  const base = `${session.findConnection().url}/console/apps/${application}`;
  return run === undefined ? base : `${base}/runs/${encodeURIComponent(run)}`;
}
