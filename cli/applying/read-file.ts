/** Reads and validates `switchyard.yaml`. Every mistake is reported with its line. */
import { Ajv, type ErrorObject } from 'ajv';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { CommandError } from '../errors/command-error.ts';
import { readTextFile } from '../session/read-text-file.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { buildFileSchema, type SwitchyardFile } from './file-schema.ts';

export const FILE_NAME = 'switchyard.yaml';

/** Reads the file. Throws CommandError with a line for each mistake. */
export function readFile(terminal: Pick<Terminal, 'cwd'>, name: string): SwitchyardFile {
  const message = `${name} cannot be read. Give the path of the file with --file.`;
  return parseFile(readTextFile(terminal, name, message), name);
}

/** Parses the text of the file. Throws CommandError with a line for each mistake. */
export function parseFile(text: string, name: string): SwitchyardFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const broken = document.errors.map(({ message, pos }) => ({ line: lines.linePos(pos[0]).line, message }));
  if (broken.length > 0) throw new CommandError(formatMistakes(name, broken));
  const ajv = new Ajv({ strict: false, allErrors: true, discriminator: true, verbose: true });
  ajv.addFormat('date-time', true);
  const isValid = ajv.compile<SwitchyardFile>(buildFileSchema());
  const file: unknown = document.toJS() ?? {};
  if (isValid(file)) return file;
  const mistakes = (isValid.errors ?? [])
    .filter(({ keyword }) => keyword !== 'oneOf' && keyword !== 'anyOf')
    .map((error) => ({ line: findLine(document, lines, error), message: formatMistake(error) }));
  throw new CommandError(formatMistakes(name, mistakes));
}

interface Mistake {
  line: number;
  message: string;
}

function formatMistakes(name: string, mistakes: readonly Mistake[]): string {
  const sorted = mistakes.toSorted((one, other) => one.line - other.line);
  return [...new Set(sorted.map(({ line, message }) => `${name}:${line}: ${message}`))].join('\n');
}

/** Returns the keys of a JSON Pointer (RFC 6901); those of arrays are numbers. */
function readPath({ instancePath }: ErrorObject): (string | number)[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

/** The line of the field, or of the nearest field around it that the file has. */
function findLine(document: Document, lines: LineCounter, error: ErrorObject): number {
  const path = readPath(error);
  const { additionalProperty, propertyName } = error.params;
  const extra: unknown = additionalProperty ?? propertyName;
  if (typeof extra === 'string') path.push(extra);
  for (; path.length > 0; path.pop()) {
    const node = document.getIn(path, true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function formatMistake(error: ErrorObject): string {
  const { keyword, params, message = 'is not allowed here', parentSchema, data } = error;
  const field = readPath(error).join('.') || 'The file';
  switch (keyword) {
    case 'additionalProperties':
      return `${field} has the unknown field "${params.additionalProperty}"; its fields are ${Object.keys(parentSchema?.properties ?? {}).join(', ')}.`;
    case 'required':
      return `${field} has no field "${params.missingProperty}"; it is required.`;
    case 'enum':
      return `${field} is ${JSON.stringify(data)}; it must be one of ${params.allowedValues.join(', ')}.`;
    case 'discriminator':
      return `${field} has the type ${JSON.stringify(params.tagValue) ?? 'none'}; it must be one of acceptance, batch, shadow, switchback.`;
    case 'pattern':
    case 'propertyNames':
      return `${field}: ${message}; an id has 1 to 64 lowercase letters, digits and hyphens.`;
    default:
      return `${field} ${message}.`;
  }
}
