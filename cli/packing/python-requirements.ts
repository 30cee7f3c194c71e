/** Reads what `python.pip-requirements` of a manifest names. */
import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { MANIFEST_NAME } from '@switchyard/contract/applications/manifest/manifest.ts';
import { CommandError } from '../errors/command-error.ts';
import { isBelow, resolveBelow } from './folder-files.ts';

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

/**
 * Throws CommandError for a missing file, a file or a package outside of the folder, an editable requirement, and an option in a
 * list of the manifest. The words of a file go to the package index, so it must not be one of another folder.
 */
export async function readRequirements(folder: string, names: string | string[]): Promise<Requirements> {
  const root = await realpath(folder);
  const field = `python.pip-requirements of ${join(folder, MANIFEST_NAME)}`;
  if (typeof names !== 'string') {
    for (const item of names) {
      checkVariables(item, field);
      checkPath(root, root, { line: item, name: field });
    }
    return readList(names);
  }
  const path = resolve(root, names);
  checkBelow(root, path, `${field} names ${JSON.stringify(names)}`);
  const text = await readText(path, relative(root, path)).catch((error: unknown) => {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${field} names ${JSON.stringify(names)}, which is no file there.`);
  });
  await checkReferences(root, path, text);
  if (basename(path) === 'pyproject.toml') {
    const isCacheable = !/file:|path\s*=/.test(text);
    return { name: names, text, path, isEmpty: false, isCacheable, hasSources: false };
  }
  return { ...describeLines(names, text), path };
}

/** Option of a requirements file that names another one, with the name. */
const OTHER_FILE = /^(?:-r|-c|--requirement|--constraint)(?:\s*=\s*|\s+|(?<=-[rc]))(\S.*)$/;
/** A package that is a path: `./lib`, `lib @ file:../lib`, and `path = "../lib"` of a pyproject.toml. */
const PACKAGE_PATH =
  /(?:^|@\s*|["'])(?:file:(?:\/\/)?)([^\s;#"']+)|^([./][^\s;#]*)|\bpath\s*=\s*["']([^"']+)["']/;

/** Checks the paths in the lines of a file, and those of the files that it names. */
async function checkReferences(
  root: string,
  path: string,
  text: string,
  seen = new Set([path]),
): Promise<void> {
  const name = relative(root, path);
  checkVariables(text, name);
  for (const line of splitLines(text)) {
    checkPath(root, dirname(path), { line, name });
    const other = OTHER_FILE.exec(line)?.[1]?.replaceAll(/^["']|["']$/g, '');
    if (other === undefined || /^[a-z]+:\/\//i.test(other)) continue;
    const target = resolve(dirname(path), other);
    checkBelow(root, target, `${name} names ${JSON.stringify(other)}`);
    if (seen.has(target)) continue;
    seen.add(target);
    // The installer reports a file that is missing.
    await checkReferences(
      root,
      target,
      await readText(target, relative(root, target)).catch(ignoreMissing),
      seen,
    );
  }
}

/**
 * Throws CommandError for a variable of the environment, in comments too. Installers replace variables, and the line may be an
 * address that the author of the app chose.
 */
function checkVariables(text: string, name: string): void {
  const line = text.split('\n').find((one) => /\$\{\w+\}/.test(one));
  if (line === undefined) return;
  throw new CommandError(
    `${name} has ${JSON.stringify(line.trim())}, in which the installer replaces a variable by one of your environment. Nothing was sent. Write the value. For an index with credentials, set PIP_INDEX_URL or UV_INDEX_URL, or use pip.conf or .netrc.`,
  );
}

function checkPath(root: string, folder: string, { line, name }: { line: string; name: string }): void {
  const path = PACKAGE_PATH.exec(line)
    ?.slice(1)
    .find((part) => part !== undefined);
  if (path !== undefined) checkBelow(root, resolve(folder, path), `${name} has ${JSON.stringify(line)}`);
}

/** Reads a file as the installers do. They also read other encodings, in which the lines of this check would be others. */
async function readText(path: string, name: string): Promise<string> {
  const bytes = await readFile(path);
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  const [, encoding = 'utf-8'] = /^(?:.*\n)?\s*#.*coding[:=]\s*([\w.-]+)/.exec(text) ?? [];
  if (isUtf8(bytes) && /^(utf-?8|ascii)$/i.test(encoding)) return text;
  throw new CommandError(`${name} is not UTF-8. Save it as UTF-8.`);
}

function ignoreMissing(error: unknown): string {
  if (error instanceof CommandError) throw error;
  return '';
}

/** Throws CommandError that begins with `use` for a path outside of the folder, whether it exists or not. */
function checkBelow(root: string, path: string, use: string): void {
  const target = existsSync(path) ? resolveBelow(root, path) : { path };
  if (!('problem' in target) && isBelow(root, target.path)) return;
  throw new CommandError(
    `${use}, which is outside of ${root}. Nothing was read from it, and nothing was sent. Copy it into the folder, and name it there.`,
  );
}

function splitLines(text: string): string[] {
  return text
    .replaceAll(/(^|\s)#.*$/gm, '')
    .replaceAll(/\\\r?\n/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

/**
 * A list has one requirement per item. An item becomes a line of a requirements file, where `-` begins an option and a line
 * break the next line, so neither may be in it.
 */
function readList(names: readonly string[]): Requirements {
  const field = `python.pip-requirements in ${MANIFEST_NAME}`;
  for (const item of names) {
    const quoted = JSON.stringify(item);
    if (/[\r\n\0]/.test(item))
      throw new CommandError(
        `${field} has the item ${quoted}, which has a line break. Write one requirement per item.`,
      );
    if (item.trim().startsWith('-'))
      throw new CommandError(
        `${field} has the item ${quoted}, which is an option. Write it and the requirements to a file, and name the file.`,
      );
  }
  return describeLines(field, `${names.join('\n')}\n`);
}

function describeLines(name: string, text: string): Requirements {
  const lines = splitLines(text);
  const editable = lines.find((line) => /^(-e|--editable)\b/.test(line));
  if (editable !== undefined)
    throw new CommandError(
      `${name} has the editable requirement ${JSON.stringify(editable)}: a link to a folder of this machine, which the server does not have. Write the path without -e.`,
    );
  const refers = lines.some((line) => /^-(r|c|f|-requirement|-constraint|-find-links)\b/.test(line));
  // A path, an address or a repository: its content may change, and it may have to be built.
  const hasSources = lines.some((line) => /^[./]|@\s|:\/\//.test(line) && !/^-/.test(line));
  const isCacheable = !refers && !hasSources;
  return { name, text: lines.join('\n'), isEmpty: lines.length === 0, isCacheable, hasSources };
}
