/** The body of a request from a YAML or JSON file and from options. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { CommandError } from '../errors/command-error.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Reads the object of a file. Throws CommandError with the line of a mistake. */
export function readObject({ cwd }: Pick<Terminal, 'cwd'>, name: string): Record<string, unknown> {
  const path = resolve(cwd, name);
  const document = parseDocument(readText(path, name), { prettyErrors: true });
  const [error] = document.errors;
  if (error) throw new CommandError(`${name} is not YAML or JSON: ${error.message.trim()}`);
  const value: unknown = document.toJS();
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new CommandError(`${name} must have an object with the fields of the request of the API.`);
  return { ...value };
}

function readText(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new CommandError(`${name} cannot be read; give the path of a YAML or JSON file.`);
  }
}
