/** The request of a new run as a command of the published Python package. Pure. */
import { formatVisibleJson } from '../../ui/content/json-text.ts';
import { quoteShell } from '../../ui/forms/quote-shell.ts';
import type { PlannedRequest } from './request.ts';

const COMMAND = 'nextmv cloud run';
const INPUT_FILE = 'input.json';

/** Returns the commands; undefined for a request that the command line cannot send. */
export function formatCli({ application, instance, body, upload }: PlannedRequest): string | undefined {
  const { configuration = {}, options = {} } = body;
  const settings = Object.entries(options ?? {}).map(([name, value]) => `${name}=${value}`);
  // The command line splits options at commas, sends only JSON from its standard input, and has no option for a format.
  if (settings.some((setting) => setting.includes(','))) return undefined;
  if (typeof body.input === 'string' || configuration?.format) return undefined;
  const app = ['--app-id', quoteWord(application)];
  const runType = configuration?.run_type;
  const flags: (readonly [string, string | number | null | undefined])[] = [
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
  const create = [
    `${COMMAND} create ${app.join(' ')}`,
    ...flags.flatMap(([flag, value]) =>
      value === undefined || value === null ? [] : [`${flag} ${quoteWord(String(value))}`],
    ),
  ].join(' \\\n  ');
  if (body.input !== undefined)
    return `printf %s ${quoteShell(formatVisibleJson(body.input))} |\n  ${create}`;
  if (!upload || !('run' in upload)) return create;
  const download = `${COMMAND} input ${app.join(' ')} --run-id ${quoteWord(upload.run)} --output ${INPUT_FILE}`;
  return `${download}\n${create}`;
}

function findInputFile(upload: PlannedRequest['upload']): string | undefined {
  if (upload === undefined) return undefined;
  return 'file' in upload ? upload.file.name : INPUT_FILE;
}

/** Quotes a word unless a shell reads it as it is. */
function quoteWord(word: string): string {
  return /^[\w.@%+/:=-]+$/.test(word) ? word : quoteShell(word);
}
