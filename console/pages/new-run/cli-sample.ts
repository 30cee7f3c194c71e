/** The request of a new run as a command of `switchyard`, and of the published Python package. Pure. */
import { formatVisibleJson } from '../../ui/content/json-text.ts';
import { quoteShell } from '../../ui/forms/quote-shell.ts';
import type { PlannedRequest } from './request.ts';

const PUBLISHED_COMMAND = 'nextmv cloud run';
const INPUT_FILE = 'input.json';

/** Returns the published commands; undefined for a request that the published command line cannot send. */
export function formatPublishedCommand({
  application,
  instance,
  body,
  upload,
}: PlannedRequest): string | undefined {
  const { configuration = {}, options = {} } = body;
  const settings = Object.entries(options ?? {}).map(([name, value]) => `${name}=${value}`);
  // The command line splits options at commas, sends only JSON from its standard input, and has no option for a format.
  if (settings.some((setting) => setting.includes(','))) return undefined;
  if (typeof body.input === 'string' || configuration?.format || configuration?.max_duration)
    return undefined;
  const app = ['--app-id', quoteWord(application)];
  const runType = configuration?.run_type;
  const flags: Flag[] = [
    ['--instance-id', instance],
    ['--managed-input-id', body.input_id],
    ['--input', findInputFile(upload)],
    ['--name', body.name],
    ['--description', body.description],
    ...settings.map((setting) => ['--options', setting] as const),
    ['--priority', configuration?.queuing?.priority],
    ['--execution-class', configuration?.execution_class],
    ['--secret-collection-id', configuration?.secrets_collection_id],
    ['--run-type', runType?.type],
    ['--definition-id', runType?.definition_id],
  ];
  const create = joinFlags(`${PUBLISHED_COMMAND} create ${app.join(' ')}`, flags);
  if (body.input !== undefined)
    return `printf %s ${quoteShell(formatVisibleJson(body.input))} |\n  ${create}`;
  if (!upload || !('run' in upload)) return create;
  const download = `${PUBLISHED_COMMAND} input ${app.join(' ')} --run-id ${quoteWord(upload.run)} --output ${INPUT_FILE}`;
  return `${download}\n${create}`;
}

/** Returns the commands of `switchyard` that create the run, and print its output when it has ended. */
export function formatRunCommand({ application, instance, body, upload }: PlannedRequest): string {
  const { configuration, options, input } = body;
  const runType = configuration?.run_type;
  const isEnsemble = runType?.type === 'ensemble';
  const create = joinFlags(`switchyard run --app ${quoteWord(application)}`, [
    isEnsemble ? ['--ensemble-id', runType.definition_id] : ['--instance', instance],
    ['--input-id', body.input_id],
    ['--input', input === undefined ? findInputFile(upload) : '-'],
    ['--format', configuration?.format?.input?.type ?? (typeof input === 'string' ? 'text' : null)],
    ['--name', body.name],
    ['--description', body.description],
    ...Object.entries(options ?? {}).map(([name, value]) => ['--option', `${name}=${value}`] as const),
    ['--priority', configuration?.queuing?.priority],
    ['--execution-class', configuration?.execution_class],
    ['--max-duration', configuration?.max_duration],
    ['--secrets-collection-id', configuration?.secrets_collection_id],
    ['--output', '-'],
  ]);
  if (input !== undefined) {
    const content = typeof input === 'string' ? input : formatVisibleJson(input);
    return `printf %s ${quoteShell(content)} |\n  ${create}`;
  }
  if (!upload || !('run' in upload)) return create;
  const app = `--app ${quoteWord(application)}`;
  return `switchyard runs input ${app} ${quoteWord(upload.run)} --output ${INPUT_FILE}\n${create}`;
}

type Flag = readonly [name: string, value: string | number | null | undefined];

function joinFlags(command: string, flags: readonly Flag[]): string {
  const present = flags.flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [`${name} ${quoteWord(String(value))}`],
  );
  return [command, ...present].join(' \\\n  ');
}

function findInputFile(upload: PlannedRequest['upload']): string | undefined {
  if (upload === undefined) return undefined;
  return 'file' in upload ? upload.file.name : INPUT_FILE;
}

/** Quotes a word unless a shell reads it as it is. */
function quoteWord(word: string): string {
  return /^[\w.@%+/:=-]+$/.test(word) ? word : quoteShell(word);
}
