/**
 * The files of this repository that people write. The walk starts at the root, so that a file counts before its commit;
 * it skips dependencies, builds and data.
 */
import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** `path` is relative to the root of the repository and uses `/`. */
export interface Source {
  path: string;
  text: string;
}

export const SKIPPED_NAMES: ReadonlySet<string> = new Set([
  'node_modules',
  'dist',
  '.git',
  '.cache',
  '__pycache__',
  // The fuzzer writes these into the current folder.
  '.hypothesis',
  '.schemathesis',
]);
/** The default data folder of a server in the work tree. */
const SKIPPED_PATHS = new Set(['data']);
const TEXT_ENDINGS =
  /\.(ts|tsx|mts|js|mjs|cjs|json|md|css|html|svg|yaml|yml|toml|py|go|rs|java|c|h|sh|txt|sql)$|(^|\/)(Makefile|Dockerfile|\.npmrc|\.gitignore)$/;
/** Written by tools. */
const GENERATED = new Set([
  'package-lock.json',
  'contract/openapi/cloud.json',
  'contract/openapi/marketplace.json',
]);

function walk(folder: string): string[] {
  const entries: Dirent[] = readdirSync(`${ROOT}/${folder}`, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory())
      return SKIPPED_NAMES.has(entry.name) || SKIPPED_PATHS.has(path) ? [] : walk(path);
    return entry.isFile() ? [path] : [];
  });
}

/** Returns every text file, sorted by path. */
export function readTextFiles(): Source[] {
  return walk('')
    .filter((path) => TEXT_ENDINGS.test(path) && !GENERATED.has(path))
    .sort()
    .map((path) => ({ path, text: readFileSync(`${ROOT}/${path}`, 'utf8') }));
}

/** Returns true for TypeScript and JavaScript sources. */
export function isCode(source: Source): boolean {
  return /\.tsx?$/.test(source.path) && !source.path.endsWith('.d.ts');
}

/** Returns true for test files. */
export function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path);
}

/** Folders that are never shipped: benchmarks, chaos tests, the simulation, conformance tests, studies of the statistics. */
const TOOL_FOLDERS = new Set(['bench', 'browser-testing', 'chaos', 'simulation', 'conformance', 'studies']);

/** Returns true for tests, for folders named `testing` with shared test code, and for tools that are never shipped. */
export function isTesting(path: string): boolean {
  const folders = path.split('/');
  return isTest(path) || folders.includes('testing') || TOOL_FOLDERS.has(folders[0] ?? '');
}
