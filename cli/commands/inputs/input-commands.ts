/** Commands for managed inputs. */
import { Option } from '@commander-js/extra-typings';
import type { ResponseBody } from '@switchyard/contract/client.ts';
import { FORMAT_TYPES, type FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import { CommandError } from '../../errors/command-error.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import type { Session } from '../../session/session.ts';
import { age } from '../../terminal/columns.ts';
import { saveContent } from '../contents/save-content.ts';
import { uploadInput } from '../contents/upload-input.ts';
import type { Parent } from '../resource/define-command.ts';
import { defineResource } from '../resource/define-resource.ts';

interface CreateOptions {
  id?: string;
  file?: string;
  runId?: string;
  name?: string;
  description?: string;
  format?: FormatType;
}

export const defineInputCommands = defineResource({
  name: 'inputs',
  noun: 'managed input',
  text: 'List the managed inputs of the application, the newest first.',
  list: {
    name: '',
    operation: 'listInputs',
    text: 'List the managed inputs of the application, the newest first.',
    columns: {
      INPUT: 'id',
      NAME: 'name',
      FORMAT: ({ format }) => format.input.type,
      FROM: ({ run_id }) => run_id ?? 'upload',
      CREATED: age('created_at'),
    },
    example: '--json',
  },
  get: { operation: 'getInput', text: 'Print a managed input without its content.' },
  update: {
    operation: 'updateInput',
    text: 'Change the name and the description of a managed input. Its content never changes.',
    options: { name: ['<name>', 'The new name.'], description: ['<text>', 'The new description.'] },
    headers: () => ({ prefer: 'return=representation' }),
    example: 'monday-peak --name "Monday, before the holidays"',
    done: (_body, { input_id }) => `Updated managed input ${input_id}.`,
  },
  remove: {
    operation: 'deleteInput',
    text: 'Delete managed inputs. Runs and input sets with them keep their content.',
    isMany: true,
  },
  show: (input) => ({
    input: input.id,
    name: input.name,
    description: input.description,
    format: input.format.input.type,
    'from run': input.run_id,
    created: input.created_at,
    updated: input.updated_at,
  }),
  more: (inputs, session) => {
    defineCreate(inputs, session);
    inputs
      .command('download')
      .description('Write the content of a managed input, byte for byte.')
      .argument('<input>', 'The id of the input.')
      .option('--output <file>', 'The file; otherwise standard output.', '-')
      .addHelpText('after', '\nExample:\n  switchyard inputs download monday-peak --output input.json')
      .action(async (input_id, { output }) => {
        const params = { application_id: session.findApplication(), input_id };
        const { body } = await session.connect().call('getInput', { params });
        await saveContent(session, body.download_url, output);
      });
  },
});

function defineCreate(inputs: Parent, session: Session): void {
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
      session.output.printSentence(body, `Created managed input ${body.id}.`, body.id);
    });
}

/** Stores a file or the input of a run as a managed input, and returns that. */
export async function createInput(
  session: Session,
  application_id: string,
  { id, name, description, ...source }: CreateOptions,
): Promise<ResponseBody<'getInput'>> {
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
