/** Opens the console in a browser. */
import { spawn } from 'node:child_process';
import type { Command } from '@commander-js/extra-typings';
import type { Session } from '../../session/session.ts';

/** Programs that open an address, each with the address as its last argument. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
const OPENER_DEFAULT = ['xdg-open'];

/** Defines `open`. */
export function defineOpen(program: Command, session: Session): void {
  program
    .command('open')
    .description('Open the console at the page of a run, or of the application, and print its address.')
    .argument('[run]', 'The id of a run.')
    .option('--print', 'Only print the address.')
    .addHelpText(
      'after',
      `
Examples:
  switchyard open
  switchyard open run-01jd3v7k9mq2z5x8 --print`,
    )
    .action(async (run, { print }) => {
      const url = buildConsoleUrl(session, run);
      if (!print && !(await openBrowser(session, url)))
        session.output.warn('No browser could be started; open the address yourself.');
      session.output.print({ json: { url }, text: () => `${url}\n`, quiet: () => url });
    });
}

function buildConsoleUrl(session: Session, run: string | undefined): string {
  const application = encodeURIComponent(session.findApplication());
  const base = `${session.findConnection().url}/console/apps/${application}`;
  return run === undefined ? base : `${base}/runs/${encodeURIComponent(run)}`;
}

/** Starts the program in BROWSER, or that of the system, without a shell. Returns false when it cannot be started. */
function openBrowser({ terminal }: Session, url: string): Promise<boolean> {
  const chosen = terminal.env.BROWSER ? [terminal.env.BROWSER] : OPENERS[process.platform];
  const [command = '', ...args] = chosen ?? OPENER_DEFAULT;
  return new Promise((resolve) => {
    const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
