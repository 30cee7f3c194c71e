/**
 * Selects the files of an app by the list `files` of its manifest. Its patterns apply in order; one that begins with `!`
 * removes files, and a folder stands for everything below it.
 */
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { join, posix } from 'node:path';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import picomatch from 'picomatch';
import { CommandError } from '../errors/command-error.ts';
import {
  type FoundFile,
  listFolder,
  refuseProblems,
  resolveBelow,
  type SkippedFile,
} from './folder-files.ts';

export interface Selection {
  /** Sorted by name. */
  files: FoundFile[];
  skipped: SkippedFile[];
}

/** Folders that a wildcard does not match. Push itself packs the packages of the second one that the app needs. */
const GIT_FOLDER = '.git';
export const NODE_FOLDER = 'node_modules';
const HIDDEN = 'hidden; name it in files of app.yaml to send it';
const PACKAGES = 'name it in files of app.yaml to send it';

/** Throws CommandError for a pattern that matches nothing or leads out of the folder, and for a file that may not be sent. */
export function selectFiles(folder: string, patterns: readonly string[], manifest: string): Selection {
  const root = realpathSync(folder);
  const chosen = new Map<string, FoundFile>();
  const skipped = new Map<string, SkippedFile>();
  for (const pattern of patterns) {
    const removes = pattern.startsWith('!');
    const plain = normalizePattern(removes ? pattern.slice(1) : pattern, manifest);
    if (removes) {
      for (const name of chosen.keys()) if (removesName(plain, name)) chosen.delete(name);
      for (const name of skipped.keys()) if (removesName(plain, name)) skipped.delete(name);
      continue;
    }
    const found = findFiles(root, plain);
    if (found.files.length === 0) throw new CommandError(explainNoMatch(root, pattern, manifest));
    for (const file of found.files) chosen.set(file.name, file);
    for (const one of found.skipped) skipped.set(one.name, one);
  }
  const files = [...chosen.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  refuseProblems(folder, files);
  return {
    files,
    skipped: [...skipped.values()].filter(({ name }) => !files.some((file) => isIn(name, file.name))),
  };
}

/** Returns the pattern relative to the folder, without `./` and a last `/`; empty for the folder itself. */
function normalizePattern(pattern: string, manifest: string): string {
  const plain = posix.normalize(pattern).replace(/\/+$/, '');
  if (
    plain === '..' ||
    plain.startsWith('../') ||
    posix.isAbsolute(pattern) ||
    /^[A-Za-z]:[\\/]/.test(pattern)
  )
    throw new CommandError(
      `${manifest} names ${quote(pattern)} in files, which is outside of the folder. Nothing was sent. Copy the files into the folder, and name their paths there.`,
    );
  return plain === '.' ? '' : plain;
}

const quote = (text: string): string => escapeInvisible(JSON.stringify(text));

/** Reports whether the name is that of the folder or file, or is in it. */
function isIn(folder: string, name: string): boolean {
  return folder === '' || name === folder || name.startsWith(`${folder}/`);
}

function removesName(pattern: string, name: string): boolean {
  return isIn(pattern, name) || matchesGlob(pattern, name, true);
}

/** Wildcards of the matcher match no line breaks, which names may have. */
function matchesGlob(pattern: string, name: string, dot: boolean): boolean {
  return picomatch(pattern, { dot })(name.replaceAll(/[\n\r\u2028\u2029]/g, ' '));
}

function findFiles(root: string, pattern: string): Selection {
  if (!findEntry(join(root, pattern))) return findByGlob(root, pattern);
  const target = resolveBelow(root, join(root, pattern));
  if (!('problem' in target) && findEntry(target.path)?.isDirectory())
    return listVisible(root, pattern, pattern);
  return { files: [{ name: pattern, ...target }], skipped: [] };
}

/** Returns undefined for a path that does not exist, or that no file can have. */
function findEntry(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function findByGlob(root: string, pattern: string): Selection {
  const { base, isGlob } = picomatch.scan(pattern);
  const none = { files: [], skipped: [] };
  if (!isGlob || !findEntry(join(root, base))) return none;
  const target = resolveBelow(root, join(root, base));
  if ('problem' in target) return { files: [{ name: base, ...target }], skipped: [] };
  if (!findEntry(target.path)?.isDirectory()) return none;
  const { files, skipped } = listVisible(root, base, pattern);
  const chosen = files.filter(({ name }) => matchesGlob(pattern, name, false));
  const hidden = files.filter(
    ({ name }) => !matchesGlob(pattern, name, false) && matchesGlob(pattern, name, true),
  );
  return {
    files: chosen,
    skipped: [
      ...skipped.filter(({ name }) => [name, `${name}/x`].some((one) => matchesGlob(pattern, one, true))),
      ...hidden.map(({ name }) => ({ name, reason: HIDDEN })),
    ],
  };
}

/** Lists the files below the folder, without hidden ones that the pattern does not name. */
function listVisible(root: string, start: string, pattern: string): Selection {
  const parts = pattern.split('/');
  const namesHidden = parts
    .slice(start === '' ? 0 : start.split('/').length)
    .some((part) => part.startsWith('.'));
  const { files, skipped } = listFolder(root, start, (name) => {
    const own = posix.basename(name);
    if (own === NODE_FOLDER) return parts.includes(NODE_FOLDER) ? undefined : PACKAGES;
    if (own === GIT_FOLDER) return parts.includes(GIT_FOLDER) ? undefined : HIDDEN;
    return own.startsWith('.') && !namesHidden ? HIDDEN : undefined;
  });
  return { files, skipped };
}

function explainNoMatch(root: string, pattern: string, manifest: string): string {
  const message = `${manifest} names ${quote(pattern)} in files, which matches no file.`;
  const slashed = pattern.replaceAll('\\', '/');
  if (slashed !== pattern && findFiles(root, posix.normalize(slashed)).files.length > 0)
    return `${message} Separate folders by "/": ${quote(slashed)} matches.`;
  return message;
}
