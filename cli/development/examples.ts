/** Inputs for the guides of the documentation: each example is a JSON file that maps names of files to their contents. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type from 'typebox';
import { CommandError } from '../errors/command-error.ts';

/** In the package and in a clone of the repository, the folder is beside that of this file. */
const EXAMPLES = join(import.meta.dirname, '..', 'examples');
const parseExample = createJsonParser(Type.Record(Type.String(), Type.Unknown()));

/** Lists the names of the examples. */
export function listExamples(): string[] {
  return readdirSync(EXAMPLES)
    .map((file) => basename(file, '.json'))
    .sort();
}

/** Writes the files of the example into the folder, and returns their names. Throws rather than replace a file. */
export function writeExample(example: string, folder: string): string[] {
  const path = join(EXAMPLES, `${example}.json`);
  const contents = parseExample(readFileSync(path, 'utf8'), path);
  const names = Object.keys(contents);
  const present = names.find((name) => existsSync(join(folder, name)));
  if (present !== undefined)
    throw new CommandError(
      `${folder} has ${present} already, which the example would replace. Choose another folder.`,
    );
  mkdirSync(folder, { recursive: true });
  for (const name of names) writeFileSync(join(folder, name), `${JSON.stringify(contents[name])}\n`);
  return names;
}
