/** The body of a request from a YAML or JSON file and from options. */
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { parseDocument } from 'yaml';
import { CommandError } from '../errors/command-error.ts';
import { readTextFile } from '../session/read-text-file.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Reads the object of a file. Throws CommandError with the line of a mistake. */
export function readObject(terminal: Pick<Terminal, 'cwd'>, name: string): Record<string, unknown> {
  const text = readTextFile(terminal, name, `${name} cannot be read; give the path of a YAML or JSON file.`);
  const document = parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (error) throw new CommandError(`${name} is not YAML or JSON: ${error.message.trim()}`);
  const value: unknown = document.toJS();
  if (!isRecord(value))
    throw new CommandError(`${name} must have an object with the fields of the request of the API.`);
  return value;
}
