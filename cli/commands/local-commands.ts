/** Commands for apps on this machine: start from a template, and run an app without a server. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, relative, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type Command, Option } from '@commander-js/extra-typings';
import { EXECUTION_CLASS_DEFAULT, EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import { ID_CHARS_MAX } from '@switchyard/contract/limits.ts';
import { suggestId } from '@switchyard/contract/presentation/suggest-id.ts';
import { ID_PATTERN } from '@switchyard/contract/schemas/ids.ts';
import { listExamples, writeExample } from '../development/examples.ts';
import { copyTemplate, listTemplates, type Template } from '../development/templates.ts';
import { CommandError } from '../errors/command-error.ts';
import { linkApplication } from '../session/application-link.ts';
import { quoteArgument } from '../session/hints.ts';
import { decodeText } from '../session/read-text-file.ts';
import type { Session } from '../session/session.ts';
import { collectAppOption } from './parse-values.ts';
import { downloadPrevious, PREVIOUS_DESCRIPTION } from './runs/previous-run.ts';

/** Defines `init` and `dev`. */
export function defineLocalCommands(program: Command, session: Session): void {
  defineInit(program, session);
  defineDev(program, session);
}

function defineInit(program: Command, session: Session): void {
  const templates = listTemplates();
  program
    .command('init')
    .description(
      'Write a complete app into a folder. It solves a small problem, and you replace the problem.',
    )
    .argument('[folder]', 'The folder of the app; it is created.', '.')
    .addOption(
      new Option('-t, --template <name>', 'The language and solver of the app.')
        .choices(templates.map(({ name }) => name))
        .conflicts('example'),
    )
    .addOption(
      new Option(
        '-e, --example <name>',
        'Write the inputs of a guide of the documentation, in place of an app.',
      ).choices(listExamples()),
    )
    .addHelpText(
      'after',
      `\nTemplates:\n${templates.map(({ name, description }) => `  ${name.padEnd(16)}${description}\n`).join('')}\nExample:\n  switchyard init routing --template python-ortools`,
    )
    .action((folder, { template, example }) => {
      const path = resolve(session.terminal.cwd, folder);
      if (example !== undefined) return initInputs(session, path, example);
      const chosen = templates.find(({ name }) => name === template);
      if (!chosen) throw new CommandError('Give the language and solver of the app with --template.');
      initFolder(session, path, chosen);
    })
    .argument('[application]', 'The id of the application; otherwise --app, or the name of the folder.');
}

function initInputs({ terminal, output }: Session, folder: string, example: string): void {
  const files = writeExample(example, folder);
  const place = relative(terminal.cwd, folder) || '.';
  output.print({
    json: { folder, example, files },
    text: () => `Wrote ${files.length} inputs into ${place}: ${files[0]} to ${files.at(-1)}.\n`,
    quiet: () => folder,
  });
}

function initFolder({ terminal, options, output }: Session, folder: string, template: Template): void {
  const application = options.app ?? suggestId(basename(folder));
  if (!new RegExp(ID_PATTERN).test(application))
    throw new CommandError(
      `The id of the application is "${application}"; use 1 to ${ID_CHARS_MAX} lowercase letters, digits and hyphens. Give another with --app.`,
    );
  const files = copyTemplate(template, folder);
  linkApplication(folder, application);
  const place = relative(terminal.cwd, folder) || '.';
  output.print({
    json: { application_id: application, folder, template: template.name, files },
    text: () =>
      `Wrote the template ${template.name} into ${place}: ${files.join(', ')}.\nNext: switchyard dev ${quoteArgument(place)}\n`,
    quiet: () => folder,
  });
}

function defineDev(program: Command, session: Session): void {
  program
    .command('dev')
    .description(
      'Run the app of a folder on this machine, as a server would. It runs in the sandbox, by the rules of a server.',
    )
    .argument('[folder]', 'The folder of the app.', '.')
    .option(
      '-i, --input <file>',
      'The input, or - for standard input; otherwise input.json, input.txt or inputs/ in the folder.',
    )
    .option('-o, --option <name=value...>', 'An option of the app.', collectAppOption)
    .option('--previous <run>', PREVIOUS_DESCRIPTION)
    .option('--output <file>', 'Write the output of the app into this file.')
    .option('--env-file <file>', 'Give the app the variables in this file as secrets, as lines NAME=value.')
    .option('--network', 'Let the app use the network, as an instance with "network": true does.')
    .addOption(
      new Option('--execution-class <name>', 'The limits of the run.')
        .choices(EXECUTION_CLASSES)
        .default(EXECUTION_CLASS_DEFAULT),
    )
    .option('-w, --watch', 'Run again when a file of the app or the input changes.')
    .addHelpText('after', '\nExample:\n  switchyard dev routing --option duration=5 --watch')
    .action(async (folder, options) => {
      const { terminal } = session;
      const path = resolve(terminal.cwd, folder);
      // The runner takes a tenth of a second to load, which other commands do not need.
      const { develop } = await import('../development/develop.ts');
      await develop(session, path, {
        input: options.input,
        previous: options.previous === undefined ? null : await downloadPrevious(session, options.previous),
        options: options.option ?? {},
        outputPath: options.output === undefined ? null : resolve(terminal.cwd, options.output),
        secrets: options.envFile === undefined ? [] : readSecrets(resolve(terminal.cwd, options.envFile)),
        network: options.network ?? false,
        executionClass: options.executionClass,
        isWatching: options.watch ?? false,
      });
    });
}

function readSecrets(path: string): { type: 'env'; location: string; value: string }[] {
  if (!existsSync(path)) throw new CommandError(`--env-file is "${path}", which does not exist.`);
  return Object.entries(parseEnv(decodeText(readFileSync(path), path))).map(([location, value]) => ({
    type: 'env',
    location,
    value: value ?? '',
  }));
}
