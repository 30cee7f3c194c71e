/** Finds the input of a local run: a file, standard input, or a folder for apps that read files. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { decodeUtf8, NotUtf8Error } from '@switchyard/contract/decode-utf8.ts';
import { type FormatType, isArchive } from '@switchyard/contract/schemas/field-schemas.ts';
import { CommandError } from '../errors/command-error.ts';
import { packFolder } from '../packing/pack.ts';
import type { Session } from '../session/session.ts';

/** Names of inputs beside `app.yaml`, in the order in which they are looked for. */
const DEFAULT_NAMES: Record<FormatType, readonly string[]> = {
  json: ['input.json', 'inputs/input.json'],
  text: ['input.txt', 'input.csv', 'inputs/input.txt'],
  'csv-archive': ['input.tar.gz', 'input', 'inputs'],
  'multi-file': ['input.tar.gz', 'inputs', 'input'],
};

/** Returns the path of the input: that of the argument, or of an input in the folder of the app. Throws without any. */
export function findInputPath(
  folder: string,
  format: FormatType,
  { input, cwd }: { input: string | undefined; cwd: string },
): string {
  if (input === '-') return input;
  const candidates =
    input === undefined ? DEFAULT_NAMES[format].map((name) => join(folder, name)) : [resolve(cwd, input)];
  const found = candidates.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new CommandError(
    input === undefined
      ? `The app reads ${format}, and ${folder} has no ${DEFAULT_NAMES[format].join(' or ')}. Give its input with --input FILE.`
      : `--input is "${input}"; ${candidates[0]} does not exist.`,
  );
}

/** Reads the input in the format of the app. Throws for text that is not JSON where the app reads JSON. */
export async function readInput(
  path: string,
  format: FormatType,
  { terminal, output }: Pick<Session, 'terminal' | 'output'>,
): Promise<Buffer> {
  if (path === '-') return checkInput(await buffer(terminal.in), '--input', format);
  if (!statSync(path).isDirectory()) return checkInput(readFileSync(path), path, format);
  if (isArchive(format)) return Buffer.from(await (await packFolder(path, output.note)).arrayBuffer());
  throw new CommandError(`${path} is a folder; the app reads ${format}, so give a file.`);
}

function checkInput(bytes: Buffer, name: string, format: FormatType): Buffer {
  if (format !== 'json') return bytes;
  try {
    JSON.parse(decodeUtf8(bytes));
    return bytes;
  } catch (error) {
    throw new CommandError(
      `${name} is not ${error instanceof NotUtf8Error ? 'UTF-8' : 'JSON'}: ${error instanceof Error ? error.message : error}. The app reads JSON, as app.yaml says.`,
    );
  }
}

/** Opens bytes as the stream that the runner reads. */
export async function openBytes(bytes: Buffer): Promise<Readable> {
  return Readable.from([bytes]);
}
