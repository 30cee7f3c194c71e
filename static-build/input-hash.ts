import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', '.cache']);

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(
      ({ name }) => !SKIPPED_FOLDERS.has(name) && !name.startsWith('dist-') && !/\.test\.tsx?$/.test(name),
    )
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? listFiles(path) : [path];
    })
    .sort();
}

/** Hashes all inputs of a build: the files of the folders without tests, the installed packages, and the options. */
export function hashInputs(folders: string[], lockFile: string, options: string[]): string {
  const hash = createHash('sha256');
  for (const part of options) hash.update(`${part}\0`);
  for (const folder of folders) {
    for (const path of listFiles(folder))
      hash
        .update(`${relative(folder, path)}\0`)
        .update(readFileSync(path))
        .update('\0');
  }
  return hash.update(readFileSync(lockFile)).digest('hex');
}

/** Hashes single files of a folder. A missing file counts as empty, so its deletion starts a new build too. */
export function hashFiles(folder: string, files: string[]): string {
  const hash = createHash('sha256');
  for (const file of files) {
    const path = join(folder, file);
    hash
      .update(`${file}\0`)
      .update(existsSync(path) ? readFileSync(path) : '')
      .update('\0');
  }
  return hash.digest('hex');
}
