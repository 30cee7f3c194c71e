/** Commands for managed inputs. */
import { type Command, Option } from '@commander-js/extra-typings';
import type { CallResponse } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { FORMAT_TYPES, type FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import { CommandError } from '../../errors/command-error.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import { listItems } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { formatAge } from '../../terminal/format-time.ts';
import { formatFields } from '../../terminal/table.ts';
import { saveContent } from '../contents/save-content.ts';
import { uploadInput } from '../contents/upload-input.ts';
import { printDeleted } from '../print-deleted.ts';

type Input = CallResponse<Operations['getInput']>['body'];

interface CreateOptions {
  id?: string;
  file?: string;
  runId?: string;
  name?: string;
  description?: string;
  format?: FormatType;
}

/** Defines `inputs` with its commands. */
export function defineInputCommands(program: Command, session: Session): void {
  const inputs = program
    .command('inputs')
    .description('List the managed inputs of the application, the newest first.')
    .addHelpText('after', '\nExample:\n  switchyard inputs --json')
    .action(() => printInputs(session));
  inputs
    .command('get')
    .description('Print a managed input without its content.')
    .argument('<input>', 'The id of the input.')
    .addHelpText('after', '\nExample:\n  switchyard inputs get monday-peak')
    .action(async (input_id) => printInput(session, await getInput(session, input_id)));
  defineCreate(inputs, session);
  inputs
    .command('update')
    .description('Change the name and the description of a managed input. Its content never changes.')
    .argument('<input>', 'The id of the input.')
    .option('--name <name>', 'The new name.')
    .option('--description <text>', 'The new description.')
    .addHelpText(
      'after',
      '\nExample:\n  switchyard inputs update monday-peak --name "Monday, before the holidays"',
    )
    .action((input_id, changes) => updateInput(session, input_id, changes));
  inputs
    .command('download')
    .description('Write the content of a managed input, byte for byte.')
    .argument('<input>', 'The id of the input.')
    .option('--output <file>', 'The file; otherwise standard output.', '-')
    .addHelpText('after', '\nExample:\n  switchyard inputs download monday-peak --output input.json')
    .action(async (input_id, { output }) =>
      saveContent(session, (await getInput(session, input_id)).download_url, output),
    );
  inputs
    .command('delete')
    .description('Delete managed inputs. Runs and input sets with them keep their content.')
    .argument('<input...>', 'The ids of the inputs.')
    .addHelpText('after', '\nExample:\n  switchyard inputs delete monday-peak')
    .action(async (ids) => {
      const application_id = session.findApplication();
      for (const input_id of ids)
        await session.connect().call('deleteInput', { params: { application_id, input_id } });
      printDeleted(session, ids);
    });
}

function defineCreate(inputs: Pick<Command, 'command'>, session: Session): void {
  inputs
    .command('create')
    .description('Store a file, or the input of a run, as a managed input.')
    .argument('[input]', 'The id of the input; otherwise the server generates one.')
    .addOption(
      new Option('--file <file>', 'A file, a folder as an archive, or - for standard input.').conflicts(
        'runId',
      ),
    )
    .option('--run-id <id>', 'The run whose input to store.')
    .option('--name <name>', 'The name; otherwise the id.')
    .option('--description <text>', 'The description.')
    .addOption(
      new Option(
        '--format <format>',
        'The format of the file; otherwise json, and multi-file for an archive.',
      ).choices(FORMAT_TYPES),
    )
    .addHelpText(
      'after',
      `
Examples:
  switchyard inputs create monday-peak --file input.json --name "Monday at its peak"
  switchyard inputs create worst-case --run-id run-01jd3v7k9mq2z5x8`,
    )
    .action(async (id, options) => {
      const body = await createInput(session, session.findApplication(), {
        ...options,
        ...(id !== undefined && { id }),
      });
      session.output.print({
        json: body,
        text: () => `Created managed input ${body.id}.\n`,
        quiet: () => body.id,
      });
    });
}

async function printInputs(session: Session): Promise<void> {
  const application_id = session.findApplication();
  const { body } = await session.connect().call('listInputs', { params: { application_id } });
  const now = Date.now();
  session.output.printTable(
    listItems(body),
    [
      { title: 'INPUT', value: ({ id }) => id },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'FORMAT', value: ({ format }) => format.input.type },
      { title: 'FROM', value: ({ run_id }) => run_id ?? 'upload' },
      { title: 'CREATED', value: ({ created_at }) => formatAge(Date.parse(created_at), now) },
    ],
    { json: body, empty: `Application ${application_id} has no managed inputs.`, id: ({ id }) => id },
  );
}

async function getInput(session: Session, input_id: string): Promise<Input> {
  const application_id = session.findApplication();
  const { body } = await session.connect().call('getInput', { params: { application_id, input_id } });
  return body;
}

async function updateInput(
  session: Session,
  input_id: string,
  { name, description }: Pick<CreateOptions, 'name' | 'description'>,
): Promise<void> {
  if (name === undefined && description === undefined)
    throw new CommandError('Nothing to change was given. Give --name or --description.');
  const { body } = await session.connect().call('updateInput', {
    params: { application_id: session.findApplication(), input_id },
    headers: { prefer: 'return=representation' },
    body: dropUndefined({ name, description }),
  });
  session.output.print({
    json: body ?? { id: input_id },
    text: () => `Updated managed input ${input_id}.\n`,
    quiet: () => input_id,
  });
}

function printInput({ output }: Session, input: Input): void {
  output.print({
    json: input,
    text: () =>
      formatFields({
        input: input.id,
        name: input.name,
        description: input.description,
        format: input.format.input.type,
        'from run': input.run_id,
        created: input.created_at,
        updated: input.updated_at,
      }),
    quiet: () => input.id,
  });
}

/** Stores a file or the input of a run as a managed input, and returns that. */
export async function createInput(
  session: Session,
  application_id: string,
  { id, name, description, ...source }: CreateOptions,
): Promise<Input> {
  const { body } = await session.connect().call('createInput', {
    params: { application_id },
    body: {
      ...dropUndefined({ id, name, description }),
      ...(await readSource(session, application_id, source)),
    },
  });
  return body;
}

async function readSource(session: Session, application_id: string, { file, runId, format }: CreateOptions) {
  if (runId !== undefined) return { run_id: runId };
  if (file === undefined)
    throw new CommandError(
      'The input has no content. Give --file PATH, --file - for standard input, or --run-id ID.',
    );
  const uploaded = await uploadInput(session, { application_id, source: file, option: '--file', format });
  return {
    upload_id: uploaded.upload_id,
    ...(uploaded.format && { format: { input: { type: uploaded.format } } }),
  };
}
