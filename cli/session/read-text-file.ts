/** Files that a caller names. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { decodeUtf8, NotUtf8Error } from '@switchyard/contract/decode-utf8.ts';
import { CommandError } from '../errors/command-error.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Returns the text of a file. Throws CommandError with this message when it cannot be read, and for one that is not UTF-8. */
export function readTextFile({ cwd }: Pick<Terminal, 'cwd'>, name: string, message: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(resolve(cwd, name));
  } catch {
    throw new CommandError(message);
  }
  return decodeText(bytes, name);
}

/** Returns the text. Throws CommandError for bytes that are not UTF-8: with replacement letters a secret would be another one. */
export function decodeText(bytes: Uint8Array, name: string): string {
  try {
    return decodeUtf8(bytes);
  } catch (error) {
    if (!(error instanceof NotUtf8Error)) throw error;
    throw new CommandError(`${name} is not UTF-8 (${error.message}); save it in UTF-8.`);
  }
}
