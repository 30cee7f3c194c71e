/**
 * Lists the files of a folder. The folder may come from another person, so links are followed only to places below it.
 * Everything that is left out is named.
 */
import { isUtf8 } from 'node:buffer';
import { lstatSync, readdirSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { formatNameList } from '@switchyard/contract/name-list.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { isErrno } from '@switchyard/runner/process/errors.ts';
import { CommandError } from '../errors/command-error.ts';

/** A file of a folder. */
export interface FoundFile {
  /** Relative to the folder, with `/` between its parts. */
  name: string;
  /** The file to read: the target of a link. */
  path: string;
  /** The reason why the file cannot be sent; absent for other files. */
  problem?: string;
}

/** A file or folder that is not sent, and why. */
export interface SkippedFile {
  name: string;
  reason: string;
}

export interface FolderListing {
  /** Sorted by name. */
  files: FoundFile[];
  emptyFolders: string[];
  skipped: SkippedFile[];
}

/** Returns the reason for which a file or folder is left out; undefined for one that is sent. */
export type SkipRule = (name: string) => string | undefined;

/** Links between folders lead to the same files again and again: a few of them make billions of names. */
const FOLLOWED_LINKS_MAX = 1000;

/** Lists all files below `start`, which is a folder below `root`, or empty. `root` is a real path. */
export function listFolder(root: string, start: string, skip: SkipRule): FolderListing {
  const listing: FolderListing = { files: [], emptyFolders: [], skipped: [] };
  let followedLinks = 0;

  const visitFolder = (folder: string, path: string, parents: readonly string[]): void => {
    const entries = readNames(path);
    if (entries.length === 0 && folder !== '') listing.emptyFolders.push(folder);
    for (const bytes of entries) {
      const own = bytes.toString();
      const name = folder === '' ? own : `${folder}/${own}`;
      const reason = isUtf8(bytes) ? skip(name) : 'not UTF-8';
      if (reason !== undefined) listing.skipped.push({ name, reason });
      else visit(name, join(path, own), [...parents, path]);
    }
  };
  const visit = (name: string, path: string, parents: readonly string[]): void => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) return followLink(name, path, parents);
    // A file may be deleted while the folder is listed.
    if (found) visitTarget(name, { path, found, parents });
  };
  const visitTarget = (
    name: string,
    { path, found, parents }: { path: string; found: Stats; parents: readonly string[] },
  ): void => {
    if (found.isFile()) listing.files.push({ name, path });
    else if (found.isDirectory()) visitFolder(name, path, parents);
    else listing.skipped.push({ name, reason: 'a pipe, socket or device' });
  };
  const followLink = (name: string, path: string, parents: readonly string[]): void => {
    const target = resolveBelow(root, path);
    if ('problem' in target) return void listing.files.push({ name, ...target });
    if (parents.includes(target.path))
      return void listing.skipped.push({ name, reason: 'a link to a folder around it' });
    followedLinks += 1;
    if (followedLinks > FOLLOWED_LINKS_MAX)
      throw new CommandError(
        `${root} has more than ${FOLLOWED_LINKS_MAX} links. Nothing was sent. Replace the links by the files they lead to.`,
      );
    visitTarget(name, { path: target.path, found: statSync(target.path), parents });
  };

  const path = realpathSync(join(root, start));
  visitFolder(start, path, []);
  listing.files.sort((one, other) => (one.name < other.name ? -1 : 1));
  return listing;
}

function readNames(path: string): Buffer[] {
  try {
    return readdirSync(path, { encoding: 'buffer' });
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Returns the real path of a file or folder, or the problem with it when that path is not below the folder `root`. */
export function resolveBelow(
  root: string,
  path: string,
): { path: string } | { path: string; problem: string } {
  try {
    const real = realpathSync(path);
    return isBelow(root, real)
      ? { path: real }
      : { path, problem: `it leads to ${real}, outside of ${root}` };
  } catch {
    return { path, problem: `it is a link to ${readTarget(path)}, which does not exist` };
  }
}

function readTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return 'something else';
  }
}

/** Reports whether the path is the folder or is in it. Both are real paths. */
export function isBelow(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside !== '..' && !inside.startsWith(`..${sep}`) && inside !== path;
}

/** Throws CommandError for the first file that cannot be sent. */
export function refuseProblems(folder: string, files: readonly FoundFile[]): void {
  const refused = files.find(({ problem }) => problem !== undefined);
  if (!refused) return;
  throw new CommandError(
    `${quoteName(refused.name)} in ${folder} cannot be sent: ${escapeInvisible(refused.problem ?? '')}. Nothing was sent. Copy what it leads to into the folder, or remove the link.`,
  );
}

/** Formats the names that are not sent: a line for each reason. */
export function formatSkipped(skipped: readonly SkippedFile[]): string[] {
  const reasons = new Set(skipped.map(({ reason }) => reason));
  return [...reasons].map((reason) => {
    const names = skipped.filter((one) => one.reason === reason).map(({ name }) => escapeInvisible(name));
    return `left out: ${formatNameList([...new Set(names)].sort())} (${reason})`;
  });
}

const quoteName = (name: string): string => escapeInvisible(JSON.stringify(name));
