/** Looks at data folders from outside, for tests that compare them before and after. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Every name below the folder with its bytes and its time. */
export function treeOf(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const path of ['', ...(readdirSync(folder, { recursive: true }) as string[])]) {
    const state = statSync(join(folder, path));
    const hash = state.isFile() ? createHash('sha256').update(readFileSync(join(folder, path))) : null;
    found[path] = `${state.mtimeMs} ${state.mode} ${hash?.digest('hex') ?? 'folder'}`;
  }
  return found;
}

/** Keys of the blobs in a blob folder, without the trash. */
export const blobsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.length <= 2)
    .flatMap((part) => readdirSync(join(folder, part)));

/** Returns where the zeros at the end of the file begin. */
export function lastByte(path: string): number {
  const bytes = readFileSync(path);
  let at = bytes.length;
  while (at > 0 && bytes[at - 1] === 0) at -= 1;
  return at;
}
