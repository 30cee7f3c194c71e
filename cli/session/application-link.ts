/** The application to which the folder of an app belongs: a file beside `app.yaml`, or the name of the folder. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { suggestId } from '@switchyard/contract/presentation/suggest-id.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type from 'typebox';
import { CommandError } from '../errors/command-error.ts';

/** The file that `push` and `init` write beside `app.yaml`. */
const LINK_FILE_NAME = '.switchyard.json';

/** The application of the nearest folder with an app, from this folder upwards; undefined outside of apps. */
export function findLinkedApplication(start: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    const link = join(folder, LINK_FILE_NAME);
    if (existsSync(link)) return readLink(link);
    if (existsSync(join(folder, 'app.yaml'))) return nameApplication(folder);
    if (dirname(folder) === folder) return undefined;
  }
}

/** Returns the id for the app of a folder that was never pushed: the name of the folder in the letters of an id. */
export function nameApplication(folder: string): string {
  return suggestId(basename(folder)) || basename(folder);
}

const parseLink = createJsonParser(Type.Object({ application: Type.String() }));

function readLink(path: string): string {
  try {
    const { application } = parseLink(readFileSync(path, 'utf8'), path);
    if (application !== '') return application;
  } catch {}
  throw new CommandError(
    `${path} must be JSON with the field "application", such as {"application": "routing"}.`,
  );
}

/** Makes the application that of the folder of an app. Returns the path of the written file; undefined if it was so before. */
export function linkApplication(folder: string, application: string): string | undefined {
  if (findLinkedApplication(folder) === application) return undefined;
  const path = join(folder, LINK_FILE_NAME);
  writeFileSync(path, `${JSON.stringify({ application }, null, 2)}\n`);
  return path;
}
