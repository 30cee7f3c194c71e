/** Commands for applications. */
import { basename, resolve } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import { pushApp } from '../../packing/push-app.ts';
import type { Session } from '../../session/session.ts';
import { formatBytes } from '../../terminal/format-bytes.ts';

/** Defines `push`. */
export function defineAppCommands(program: Command, session: Session): void {
  program
    .command('push')
    .description('Pack a folder with an app.yaml, and make it the executable of the application.')
    .argument('[folder]', 'The folder of the app.', '.')
    .argument('[application]', 'The id of the application; otherwise --app, or the name of the folder.')
    .addHelpText('after', '\nExample:\n  switchyard push apps/routing --app routing')
    .action(async (folder, application) => {
      const path = resolve(session.terminal.cwd, folder);
      const id = application ?? session.options.app ?? basename(path);
      const { output } = session;
      const pushed = await pushApp(session.connect(), path, { id, name: id }, { report: output.note });
      for (const warning of pushed.warnings) output.warn(warning);
      output.print({
        json: { application_id: id, ...pushed },
        text: () =>
          `Pushed ${pushed.files} files (${formatBytes(pushed.bytes)}) to application ${id}; instance latest runs them now.\n`,
        quiet: () => id,
      });
    });
}
