/** Reads what `python.pip-requirements` of a manifest names. */
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { MANIFEST_FILE_NAME } from './manifest.ts';

export interface Requirements {
  /** As the manifest names them. */
  name: string;
  text: string;
  /** Path for `-r`; absent when they are written to a file first. */
  path?: string;
  isEmpty: boolean;
  /** Names of packages only; files that the requirements refer to may change without them. */
  isCacheable: boolean;
  hasSources: boolean;
}

/** Throws with a sentence for a missing file, an editable requirement, and an option in a list of the manifest. */
export async function readRequirements(folder: string, names: string | string[]): Promise<Requirements> {
  if (typeof names !== 'string') return readList(names);
  const path = resolve(folder, names);
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Error(
      `python.pip-requirements of ${join(folder, MANIFEST_FILE_NAME)} names ${JSON.stringify(names)}, which is no file there.`,
    );
  });
  if (basename(path) === 'pyproject.toml') {
    const isCacheable = !/file:|path\s*=/.test(text);
    return { name: names, text, path, isEmpty: false, isCacheable, hasSources: false };
  }
  return { ...describeLines(names, text), path };
}

/**
 * A list has one requirement per item. An item becomes a line of a requirements file, where `-` begins an option and a line
 * break the next line, so neither may be in it.
 */
function readList(names: readonly string[]): Requirements {
  const field = `python.pip-requirements in ${MANIFEST_FILE_NAME}`;
  for (const item of names) {
    const quoted = JSON.stringify(item);
    if (/[\r\n\0]/.test(item))
      throw new Error(
        `${field} has the item ${quoted}, which has a line break. Write one requirement per item.`,
      );
    if (item.trim().startsWith('-'))
      throw new Error(
        `${field} has the item ${quoted}, which is an option. Write it and the requirements to a file, and name the file.`,
      );
  }
  return describeLines(field, `${names.join('\n')}\n`);
}

function describeLines(name: string, text: string): Requirements {
  const lines = text
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter(Boolean);
  const editable = lines.find((line) => /^(-e|--editable)\b/.test(line));
  if (editable !== undefined)
    throw new Error(
      `${name} has the editable requirement ${JSON.stringify(editable)}: a link to a folder of this machine, which the server does not have. Write the path without -e.`,
    );
  const refers = lines.some((line) => /^-(r|c|f|-requirement|-constraint|-find-links)\b/.test(line));
  // A path, an address or a repository: its content may change, and it may have to be built.
  const hasSources = lines.some((line) => /^[./]|@\s|:\/\//.test(line) && !/^-/.test(line));
  const isCacheable = !refers && !hasSources;
  return { name, text: lines.join('\n'), isEmpty: lines.length === 0, isCacheable, hasSources };
}
