/** Records runs that were executed elsewhere, and their results. */
import { type Command, Option } from '@commander-js/extra-typings';
import type { CallRequest } from '@switchyard/contract/client.ts';
import { EXTERNAL_DURATION_MS_MAX } from '@switchyard/contract/limits.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { FORMAT_TYPES, type FormatType } from '@switchyard/contract/schemas/field-schemas.ts';
import { CommandError } from '../../errors/command-error.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import type { Session } from '../../session/session.ts';
import { uploadInput } from '../contents/upload-input.ts';
import { collectAppOption, parseIdempotencyKey, parseWholeNumber } from '../parse-values.ts';
import { formatSource, readSource, type SourceOptions } from './create-run.ts';

type RunBody = CallRequest<Operations['createRun']>['body'];
type ExternalResult = NonNullable<RunBody['result']>;

/** The files of a result, with the fields of the API that name their uploads. */
const RESULT_FILES = [
  ['output', 'output_upload_id'],
  ['log', 'error_upload_id'],
  ['statistics', 'statistics_upload_id'],
  ['metrics', 'metrics_upload_id'],
  ['assets', 'assets_upload_id'],
] as const;
type ResultFile = (typeof RESULT_FILES)[number][0];

interface ResultOptions extends Partial<Record<ResultFile, string>> {
  status?: 'succeeded' | 'failed';
  errorMessage?: string;
  executionDuration?: number;
}

interface TrackOptions extends ResultOptions, SourceOptions {
  outputFormat?: FormatType;
  instanceId?: string;
  option?: Record<string, string>;
  name?: string;
  description?: string;
}

/** Defines `runs track` and `runs set-result`. */
export function defineTracking(runs: Pick<Command, 'command'>, session: Session): void {
  addResultOptions(
    runs
      .command('track')
      .description(
        'Record a run that you execute yourself. Without an option of the result its status is none until "switchyard runs set-result".',
      ),
  )
    .addOption(
      new Option(
        '--output-format <format>',
        'The format of the output; otherwise that of the app, or json.',
      ).choices(FORMAT_TYPES),
    )
    .addOption(
      new Option(
        '--input <file>',
        'The input: a file, a folder as an archive, or - for standard input.',
      ).conflicts('inputId'),
    )
    .option('--input-id <id>', 'A managed input as the input.')
    .addOption(new Option('--format <format>', 'The format of the input.').choices(FORMAT_TYPES))
    .option('--instance, --instance-id <id>', 'The instance that was executed.')
    .option(
      '-o, --option <name=value>',
      'An option of the execution; repeat it for several.',
      collectAppOption,
    )
    .option('--name <name>', 'The name of the run.')
    .option('--description <text>', 'The description of the run.')
    .option(
      '--idempotency-key <key>',
      'Record one run however often the command is repeated with this key within 24 hours.',
      parseIdempotencyKey,
    )
    .addHelpText(
      'after',
      `
Examples:
  switchyard runs track --input input.json --output output.json --log solver.log --execution-duration 400
  switchyard runs track --input input.json --name "Week 47"`,
    )
    .action((options) => trackRun(session, options));
  addResultOptions(
    runs
      .command('set-result')
      .description('Give the result of a run that was recorded without one. A result never changes.')
      .argument('<run>', 'The id of the run.'),
  )
    .addHelpText(
      'after',
      '\nExample:\n  switchyard runs set-result run-01jd3v7k9mq2z5x8 --error-message "The licence server did not answer."',
    )
    .action((run, options) => setResult(session, run, options));
}

function addResultOptions<Arguments extends unknown[]>(command: Command<Arguments>) {
  return command
    .option('--output <file>', 'The output: a file, a folder as an archive, or - for standard input.')
    .option('--log <file>', 'The log as text.')
    .option('--statistics <file>', 'The statistics as JSON with the key "statistics", if not in the output.')
    .option('--metrics <file>', 'The metrics as JSON, if not in the output.')
    .option('--assets <file>', 'The assets as JSON with the key "assets", if not in the output.')
    .addOption(
      new Option(
        '--status <status>',
        'The status; otherwise failed with --error-message, and succeeded without.',
      ).choices(['succeeded', 'failed'] as const),
    )
    .option('--error-message <text>', 'The reason of the failure.')
    .option(
      '--execution-duration <ms>',
      'The duration of the execution in milliseconds.',
      parseWholeNumber(0, EXTERNAL_DURATION_MS_MAX),
    );
}

async function trackRun(session: Session, options: TrackOptions): Promise<void> {
  const application_id = session.findApplication();
  const { instanceId, idempotencyKey, name, description } = options;
  const source = await readSource(session, application_id, options);
  const { result, outputFormat } = await readResult(session, application_id, options);
  const output = options.outputFormat ?? outputFormat;
  const { body } = await session.connect().call('createRun', {
    params: { application_id },
    query: instanceId === undefined ? {} : { instance_id: instanceId },
    ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
    body: {
      ...formatSource(options, source),
      ...dropUndefined({ name, description }),
      options: options.option ?? {},
      configuration: {
        run_type: { type: 'external' },
        format: {
          ...(source?.format && { input: { type: source.format } }),
          ...(output && { output: { type: output } }),
        },
      },
      ...(result && { result }),
    },
  });
  session.output.print({
    json: body,
    text: () =>
      result
        ? `Recorded run ${body.run_id}.\n`
        : `Recorded run ${body.run_id}. Give its result with: switchyard runs set-result ${body.run_id}\n`,
    quiet: () => body.run_id,
  });
}

async function setResult(session: Session, run_id: string, options: ResultOptions): Promise<void> {
  const application_id = session.findApplication();
  const { result } = await readResult(session, application_id, options);
  if (!result)
    throw new CommandError(
      'The result is empty. Give --status succeeded for a run without an output, or --output, --error-message or another option.',
    );
  const params = { application_id, run_id };
  const { body } = await session.connect().call('updateRun', { params, body: { result } });
  session.output.printSentence(body, `Run ${body.id} is ${body.status_v2}.`, body.id);
}

/** Uploads the files of the result, and returns it with the format of an output that is an archive; undefined without one. */
async function readResult(
  session: Session,
  application_id: string,
  options: ResultOptions & Pick<SourceOptions, 'idempotencyKey'>,
): Promise<{ result?: ExternalResult; outputFormat?: FormatType | undefined }> {
  const {
    status,
    errorMessage: error_message,
    executionDuration: execution_duration,
    idempotencyKey,
  } = options;
  const result: ExternalResult = dropUndefined({ status, error_message, execution_duration });
  let outputFormat: FormatType | undefined;
  for (const [name, field] of RESULT_FILES) {
    const source = options[name];
    if (source === undefined) continue;
    const sent = await uploadInput(session, { application_id, source, option: `--${name}`, idempotencyKey });
    result[field] = sent.upload_id;
    if (name === 'output') outputFormat = sent.format;
  }
  return Object.keys(result).length === 0 ? {} : { result, outputFormat };
}
