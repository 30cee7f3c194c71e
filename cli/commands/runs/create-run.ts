/** Creates a run, and optionally waits for its result. */
import { type Command, Option } from '@commander-js/extra-typings';
import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import { MAX_DURATION_SECONDS_MAX, PRIORITY_MAX, PRIORITY_MIN } from '@switchyard/contract/limits.ts';
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { measureTimes } from '@switchyard/contract/runs/presentation/list-phases.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { FORMAT_TYPES, type FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { printRunPlan } from '../../experiments/planning/plan-run.ts';
import { formatHint } from '../../session/hints.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine, cleanText } from '../../terminal/clean-text.ts';
import { formatFields } from '../../terminal/table.ts';
import { checkTarget, saveContent } from '../contents/save-content.ts';
import { type UploadedInput, uploadInput } from '../contents/upload-input.ts';
import { collectAppOption, parseIdempotencyKey, parseWholeNumber } from '../parse-values.ts';
import type { RunParams } from './follow-run.ts';
import { findDefaultInstance, findPreviousRun, PREVIOUS_DESCRIPTION } from './previous-run.ts';
import { readLastLines, requestOutput } from './run-content.ts';
import { watchRun } from './watch-run.ts';

interface RunOptions extends SourceOptions {
  instanceId?: string;
  ensembleId?: string;
  option?: Record<string, string>;
  previous?: string;
  name?: string;
  description?: string;
  priority?: number;
  queuing: boolean;
  executionClass?: (typeof EXECUTION_CLASSES)[number];
  maxDuration?: number;
  secretsCollectionId?: string;
  plan?: true;
  wait?: true;
  follow?: true;
  output?: string;
}

export function defineRun(program: Command, session: Session): void {
  const input = new Option(
    '--input <file>',
    'The input: a file, a folder for an app that reads several files, or - for standard input.',
  ).conflicts('inputId');
  program
    .command('run')
    .description('Create a run of the application.')
    .addOption(input)
    .option('--input-id <id>', 'A managed input as the input.')
    .addOption(
      new Option('--format <format>', 'The format of the input; otherwise that of the app.').choices(
        FORMAT_TYPES,
      ),
    )
    .option(
      '--instance, --instance-id <id>',
      'The instance; otherwise the default instance of the application.',
    )
    .option('--ensemble-id <id>', 'Create a run of this ensemble.')
    .option('-o, --option <name=value>', 'An option of the app; repeat it for several.', collectAppOption)
    .option('--previous <run>', PREVIOUS_DESCRIPTION)
    .option('--name <name>', 'The name of the run.')
    .option('--description <text>', 'The description of the run.')
    .option(
      '--priority <number>',
      `The priority in the queue, from ${PRIORITY_MIN}, the first, to ${PRIORITY_MAX}.`,
      parseWholeNumber(PRIORITY_MIN, PRIORITY_MAX),
    )
    .option('--no-queuing', 'Create no run where it would have to wait; the exit code is 5 then.')
    .addOption(new Option('--execution-class <class>', 'The execution class.').choices(EXECUTION_CLASSES))
    .option(
      '--max-duration <seconds>',
      'The maximum duration of the run, shorter than that of its execution class.',
      parseWholeNumber(1, MAX_DURATION_SECONDS_MAX),
    )
    .option('--secrets-collection-id <id>', 'The secrets collection, in place of that of the instance.')
    .option(
      '--idempotency-key <key>',
      'Create one run however often the command is repeated with this key within 24 hours.',
      parseIdempotencyKey,
    )
    .option('--plan', 'Print the runs, such as those of an ensemble, and their time; create nothing.')
    .option('--wait', 'Wait for the end. The exit code is 1 when the run has failed.')
    .option('--follow', 'Wait, and print the log to standard error as it comes.')
    .option('--output <file>', 'Wait, and write the output to this file, or to standard output with -.')
    .addHelpText(
      'after',
      `
Examples:
  switchyard run routing --input input.json -o duration=30 --follow
  switchyard run --input-id monday-peak --instance candidate --output plan.json
  switchyard run --input input.json --idempotency-key plan-2026-11-27
  switchyard run --input monday.json --previous latest
  cat input.json | switchyard run --input - --output - | jq .solution`,
    )
    .action((options) => (options.plan ? planRun(session, options) : run(session, options)));
}

/** Prints the number of runs of the instance, or of the groups of an ensemble, and how long they take. */
async function planRun(session: Session, { ensembleId, instanceId }: RunOptions): Promise<void> {
  const client = session.connect();
  const application_id = session.findApplication();
  if (ensembleId === undefined) {
    const instance = instanceId ?? (await findDefaultInstance(client, application_id));
    return await printRunPlan(session, [{ instance, runs: 1 }]);
  }
  const params = { application_id, ensemble_id: ensembleId };
  const { body } = await client.call('getEnsemble', { params });
  await printRunPlan(
    session,
    body.run_groups.map(({ instance_id, repetitions }) => ({ instance: instance_id, runs: repetitions })),
  );
}

async function run(session: Session, options: RunOptions): Promise<void> {
  const { terminal, output } = session;
  const application_id = session.findApplication();
  if (options.output !== undefined) checkTarget(session, options.output);
  const created = await createRun(session, application_id, options);
  const { run_id } = created;
  if (!options.wait && !options.follow && options.output === undefined) {
    output.printSentence(
      created,
      `Created run ${run_id}. Follow it with: ${formatHint(session, `logs ${run_id} --follow`)}`,
      run_id,
    );
    return;
  }
  output.note(`Created run ${run_id}.`);
  const params = { application_id, run_id };
  await watchRun(session, params, {
    // Standard output is for the result.
    ...(options.follow && { writeLine: ({ log }) => terminal.err.write(`${cleanText(log)}\n`) }),
  });
  await printOutcome(session, params, {
    output: options.output,
    // The log is on the terminal already.
    hasLog: options.follow ?? false,
  });
}

async function createRun(session: Session, application_id: string, options: RunOptions) {
  const source = await readSource(session, application_id, options);
  const { priority, queuing, idempotencyKey, previous } = options;
  const previousId =
    previous === undefined ? null : await findPreviousRun(session, application_id, previous, options);
  const { body } = await session.connect().call('createRun', {
    params: { application_id },
    query: options.instanceId === undefined ? {} : { instance_id: options.instanceId },
    ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
    body: {
      ...formatSource(options, source),
      ...(previousId !== null && { previous_run_id: previousId }),
      ...(options.name !== undefined && { name: options.name }),
      ...(options.description !== undefined && { description: options.description }),
      options: options.option ?? {},
      configuration: {
        ...(source?.format && { format: { input: { type: source.format } } }),
        ...((priority !== undefined || !queuing) && {
          queuing: { ...(priority !== undefined && { priority }), ...(!queuing && { disabled: true }) },
        }),
        ...(options.executionClass && { execution_class: options.executionClass }),
        ...(options.maxDuration !== undefined && { max_duration: options.maxDuration }),
        ...(options.secretsCollectionId !== undefined && {
          secrets_collection_id: options.secretsCollectionId,
        }),
        ...(options.ensembleId !== undefined && {
          run_type: { type: 'ensemble' as const, definition_id: options.ensembleId },
        }),
      },
    },
  });
  return body;
}

/** The options that name the input of a run. */
export interface SourceOptions {
  input?: string;
  inputId?: string;
  format?: FormatType;
  idempotencyKey?: string;
}

/** Returns the field of a request that names the input. */
export function formatSource({ inputId }: SourceOptions, uploaded: UploadedInput | undefined) {
  return inputId === undefined ? { upload_id: uploaded?.upload_id ?? null } : { input_id: inputId };
}

/** Uploads the input; undefined for a managed one. Throws CommandError without an input. */
export async function readSource(
  session: Session,
  application_id: string,
  { input, inputId, format, idempotencyKey }: SourceOptions,
): Promise<UploadedInput | undefined> {
  if (inputId !== undefined) return undefined;
  if (input === undefined)
    throw new CommandError(
      'The run has no input. Give --input FILE, --input - for standard input, or --input-id ID.',
    );
  return uploadInput(session, { application_id, source: input, option: '--input', format, idempotencyKey });
}

/**
 * Prints the outcome of an ended run, and writes its output to a file, or to standard output with `-`. The exit code becomes 1
 * unless the run has succeeded.
 */
async function printOutcome(
  session: Session,
  params: RunParams,
  { output: target, hasLog }: { output?: string | undefined; hasLog: boolean },
): Promise<void> {
  const { terminal, output } = session;
  const client = session.connect();
  const { body } = await client.call('getRunMetadata', { params });
  const status = body.status_v2;
  const line = `Run ${params.run_id} ${status === 'canceled' ? 'was canceled' : status} ${formatTimes(body.metadata)}.`;
  if (status !== 'succeeded') {
    session.exitCode = EXIT_CODES.failure;
    terminal.err.write(`${line}${body.error === '' ? '' : ` ${cleanLine(body.error)}`}\n`);
    if (!hasLog) await printLastLines(session, params);
  } else if (target !== undefined) {
    const { url } = await requestOutput(client, params);
    if (url !== undefined) await saveContent(session, url, target);
  }
  if (target === '-') return;
  const fields = Object.fromEntries(
    body.statistics.indicators.map(({ name, value }) => [cleanLine(name), value]),
  );
  output.print({
    json: body,
    text: () => (status === 'succeeded' ? `${line}\n${formatFields(fields)}` : ''),
    quiet: () => params.run_id,
  });
}

/** Returns what the app took and what the run waited: `after 948 ms, having waited 1 min 31 s`. */
function formatTimes(metadata: RunInformation['metadata']): string {
  const { ran, waited } = measureTimes(metadata, Date.parse(metadata.created_at) + metadata.duration);
  if (waited === null) return `after ${formatDuration(ran ?? 0)}`;
  if (ran === null) return `after ${formatDuration(waited)} in the queue`;
  return `after ${formatDuration(ran)}, having waited ${formatDuration(waited)}`;
}

async function printLastLines(session: Session, params: RunParams): Promise<void> {
  const text = await readLastLines(session.connect(), params);
  if (text !== '') session.terminal.err.write(`The end of its log:\n${text}\n`);
}
