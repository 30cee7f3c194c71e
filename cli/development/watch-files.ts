/** Notices changes of the files of an app. It compares times and sizes, which works on every file system. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { listFolder } from '../packing/folder-files.ts';

const INTERVAL_MS = 300;
const IGNORED = new Set(['node_modules', '__pycache__']);

/** Times and sizes of files by path. */
export type Snapshot = ReadonlyMap<string, string>;

/** Returns the present state of the files below the folder and of the other files. */
export function readSnapshot(folder: string, others: readonly string[]): Snapshot {
  const { files } = listFolder(realpathSync(folder), '', (name) =>
    IGNORED.has(posix.basename(name)) || posix.basename(name).startsWith('.') ? 'not watched' : undefined,
  );
  const paths = [
    ...files.map(({ name }) => join(folder, name)),
    ...others.filter((path) => existsSync(path)),
  ];
  return new Map(
    paths.flatMap((path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      return found ? [[path, `${found.mtimeMs} ${found.size}`] as const] : [];
    }),
  );
}

/** Resolves with the path of a file that differs from the snapshot. Rejects with the reason of the signal. */
export async function waitForChange(
  before: Snapshot,
  readNext: () => Snapshot,
  signal: AbortSignal,
): Promise<string> {
  for (;;) {
    await setTimeout(INTERVAL_MS, undefined, { signal });
    const next = readNext();
    const changed =
      [...next].find(([path, state]) => before.get(path) !== state)?.[0] ??
      [...before.keys()].find((path) => !next.has(path));
    if (changed !== undefined) return changed;
  }
}
