/** Commands for input sets. */
import { parse } from 'node:path';
import type { ResponseBody } from '@switchyard/contract/client.ts';
import { INPUT_SET_RUNS_MAX } from '@switchyard/contract/limits.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import type { Session } from '../../session/session.ts';
import { age } from '../../terminal/columns.ts';
import { formatFields, formatTable } from '../../terminal/table.ts';
import { parseTime, parseWholeNumber } from '../parse-values.ts';
import type { Parent } from '../resource/define-command.ts';
import { defineResource } from '../resource/define-resource.ts';
import { createInput } from './input-commands.ts';

type InputSet = ResponseBody<'getInputSet'>;

/** The changes of an update, and a part of what a new set has. */
interface SetOptions {
  name?: string;
  description?: string;
  file?: string[];
  inputId?: string[];
}

interface UpdateOptions extends SetOptions {
  removeInput?: string[];
}

interface CreateOptions extends SetOptions {
  runId?: string[];
  instanceId?: string;
  startTime?: string;
  endTime?: string;
  maximumRuns?: number;
}

export const defineSetCommands = defineResource({
  name: 'sets',
  noun: 'input set',
  text: 'List the input sets of the application, the newest first.',
  list: {
    name: '',
    operation: 'listInputSets',
    text: 'List the input sets of the application, the newest first.',
    columns: {
      SET: 'id',
      NAME: 'name',
      INPUTS: { value: ({ inputs }) => inputs.length, isNumeric: true },
      CREATED: age('created_at'),
    },
  },
  get: { operation: 'getInputSet', text: 'Print an input set with its inputs.', print: printSet },
  remove: {
    operation: 'deleteInputSet',
    text: 'Delete input sets. Experiments on them keep their inputs.',
    isMany: true,
  },
  more: (sets, session) => {
    defineCreate(sets, session);
    defineUpdate(sets, session);
  },
});

function defineCreate(sets: Parent, session: Session): void {
  sets
    .command('create')
    .description('Create an input set from files, managed inputs, runs, or the latest runs of an instance.')
    .argument('<set>', 'The id of the input set.')
    .option('--name <name>', 'The name; otherwise the id.')
    .option('--description <text>', 'The description.')
    .option('--file <path...>', 'Files of the set; each becomes a managed input with the name of the file.')
    .option('--input-id <id...>', 'Managed inputs of the set.')
    .option('--run-id <id...>', 'Runs whose inputs are in the set.')
    .option(
      '--instance, --instance-id <id>',
      'The instance whose succeeded runs have the inputs, the newest first.',
    )
    .option('--start-time <time>', 'With --instance, only runs since this time; otherwise 24h.', parseTime)
    .option('--end-time <time>', 'With --instance, only runs before this time.', parseTime)
    .option(
      '--maximum-runs <count>',
      'With --instance, the largest number of runs.',
      parseWholeNumber(1, INPUT_SET_RUNS_MAX),
    )
    .addHelpText(
      'after',
      `
Examples:
  switchyard sets create peak-days --file monday.json tuesday.json
  switchyard sets create peak-days --input-id monday-peak tuesday-peak
  switchyard sets create last-week --instance production --start-time 7d --maximum-runs 10`,
    )
    .action((id, options) => createSet(session, id, options));
}

function defineUpdate(sets: Parent, session: Session): void {
  sets
    .command('update')
    .description(
      'Change the name and the description of an input set, and add and remove inputs. Experiments on the set keep those that they began with.',
    )
    .argument('<set>', 'The id of the input set.')
    .option('--name <name>', 'The new name.')
    .option('--description <text>', 'The new description.')
    .option('--file <path...>', 'Files to add; each becomes a managed input with the name of the file.')
    .option('--input-id <id...>', 'Managed inputs to add.')
    .option('--remove-input <id...>', 'Inputs of the set to remove, by the ids that "sets get" prints.')
    .addHelpText(
      'after',
      '\nExample:\n  switchyard sets update peak-days --input-id sunday --remove-input tuesday-peak',
    )
    .action((id, options) => updateSet(session, id, options));
}

function printSet({ output }: Session, set: InputSet): void {
  output.print({
    json: set,
    text: () => {
      const fields = formatFields({
        set: set.id,
        name: set.name,
        description: set.description,
        instance: set.instance_id,
        created: set.created_at,
        updated: set.updated_at,
      });
      const inputs = formatTable(
        set.inputs,
        {
          INPUT: 'id',
          NAME: 'name',
          FORMAT: ({ format }) => format.input.type,
        },
        output,
      );
      return `${fields}\n${inputs}`;
    },
    quiet: () => set.id,
  });
}

async function createSet(session: Session, id: string, options: CreateOptions): Promise<void> {
  const { file, inputId, runId, instanceId, startTime, endTime, maximumRuns } = options;
  if (!file && !inputId && !runId && instanceId === undefined)
    throw new CommandError('The set has no inputs. Give --file, --input-id, --run-id or --instance.');
  const application_id = session.findApplication();
  const inputs = await collectInputs(session, application_id, options);
  const { body } = await session.connect().call('createInputSet', {
    params: { application_id },
    body: {
      id,
      name: options.name ?? id,
      ...(inputs.length > 0 && { inputs }),
      ...dropUndefined({
        description: options.description,
        run_ids: runId,
        instance_id: instanceId,
        start_time: startTime,
        end_time: endTime,
        maximum_runs: maximumRuns,
      }),
    },
  });
  session.output.printSentence(
    body,
    `Created input set ${body.id} with ${body.inputs.length} inputs.`,
    body.id,
  );
}

/** Creates managed inputs from the files, and returns the references to all inputs of the options. */
async function collectInputs(
  session: Session,
  application_id: string,
  { file = [], inputId = [] }: SetOptions,
): Promise<{ id: string }[]> {
  const inputs = inputId.map((id) => ({ id }));
  for (const source of file) {
    const { id } = await createInput(session, application_id, { file: source, name: parse(source).name });
    inputs.push({ id });
  }
  return inputs;
}

async function updateSet(session: Session, input_set_id: string, options: UpdateOptions): Promise<void> {
  const { name, description, file, inputId, removeInput } = options;
  if (Object.values({ name, description, file, inputId, removeInput }).every((value) => value === undefined))
    throw new CommandError(
      'Nothing to change was given. Give --name, --description, --file, --input-id or --remove-input.',
    );
  const client = session.connect();
  const params = { application_id: session.findApplication(), input_set_id };
  const changesInputs = file !== undefined || inputId !== undefined || removeInput !== undefined;
  const changes = changesInputs ? await changeInputs(session, params, options) : {};
  const { body } = await client.call('updateInputSet', {
    params,
    body: dropUndefined({ name, description, ...changes }),
  });
  session.output.printSentence(
    body,
    `Updated input set ${body.id}, which has ${body.inputs.length} inputs.`,
    body.id,
  );
}

/** The API replaces all inputs, so those that stay are sent as they are, if nobody changes them meanwhile. Throws CommandError for one that the set has not. */
async function changeInputs(
  session: Session,
  params: { application_id: string; input_set_id: string },
  { removeInput = [], ...added }: UpdateOptions,
): Promise<{ inputs: { id: string }[]; expected_updated_at: string }> {
  const { body } = await session.connect().call('getInputSet', { params });
  const unknown = removeInput.find((id) => !body.input_ids.includes(id));
  if (unknown !== undefined)
    throw new CommandError(
      `--remove-input is "${unknown}", which is not in the set ${body.id}. Print its inputs with: switchyard sets get ${body.id}`,
      EXIT_CODES.notFound,
    );
  const others = body.input_ids.filter((id) => !removeInput.includes(id)).map((id) => ({ id }));
  const inputs = [...others, ...(await collectInputs(session, params.application_id, added))];
  return { inputs, expected_updated_at: body.updated_at };
}
