/** Laws about the tree: file names that describe the content, and folders small enough to read. */
import { posix } from 'node:path';
import { isCode, type Source } from '../source-files.ts';
import type { Law, Violation } from '../violation.ts';

export const FOLDER_FILES_MAX = 25;

const CATCH_ALL_NAMES = new Set([
  ...['common', 'commons', 'util', 'utils', 'utilities', 'helper', 'helpers', 'misc', 'miscellaneous'],
  ...['sentences', 'kit', 'rest', 'stuff', 'shared', 'things', 'various', 'other', 'others'],
]);

/** Node and the site's routes expect the name index for entry points of packages and of documentation folders. */
const INDEX_FILES =
  /^([^/]+|sample-apps\/[^/]+)\/(index\.tsx?|src\/index\.[a-z]+)$|^site\/content\/|\.html$|\.md$/;

function stem(path: string): string {
  return posix.basename(path).replace(/\..*$/, '');
}

function findCatchAllNames(sources: readonly Source[]): Violation[] {
  return sources.flatMap(({ path }) => {
    const name = stem(path);
    const isCatchAll = CATCH_ALL_NAMES.has(name) || (name === 'index' && !INDEX_FILES.test(path));
    if (!isCatchAll) return [];
    return [{ path, line: 1, message: `is called ${name}: use a name that describes the content.` }];
  });
}

function findCatchAllFolders(sources: readonly Source[]): Violation[] {
  const folders = new Map<string, string>();
  for (const { path } of sources) {
    const parts = posix.dirname(path).split('/');
    parts.forEach((part, depth) => {
      const folder = parts.slice(0, depth + 1).join('/');
      if (CATCH_ALL_NAMES.has(part) && !folders.has(folder)) folders.set(folder, part);
    });
  }
  return [...folders].map(([folder, name]) => ({
    path: folder,
    line: 1,
    message: `is a folder called ${name}: use a name that describes the content.`,
  }));
}

/**
 * Tests stand beside the code under test, so they do not make a folder harder to read. Folders with tests alone count
 * them.
 */
function findLargeFolders(sources: readonly Source[]): Violation[] {
  const counts = new Map<string, number>();
  for (const source of sources) {
    if (!isCode(source) || /\.test\.tsx?$/.test(source.path)) continue;
    const folder = posix.dirname(source.path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > FOLDER_FILES_MAX)
    .map(([path, count]) => ({
      path,
      line: 1,
      message: `contains ${count} source files; at most ${FOLDER_FILES_MAX} are allowed: create sub-folders.`,
    }));
}

/** No file or folder has a name that fits any content. */
export const catchAllNames: Law = {
  name: 'catch-all-names',
  findViolations: (sources) => [...findCatchAllNames(sources), ...findCatchAllFolders(sources)],
};

/** A folder has at most 25 source files of its own. */
export const folderSize: Law = { name: 'folder-size', findViolations: findLargeFolders };
