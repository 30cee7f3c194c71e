/**
 * Folders of the host that every user may write. An app at level `limits` reaches them; when it has a user of its own, its
 * files there count against its limit and are removed after the run.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeTreeSync } from './remove-tree.ts';

const WORLD_WRITABLE_DIRS = ['/tmp', '/var/tmp', '/dev/shm'];

/** Returns the paths of the user's files there; none without a user of the run's own. */
export function listWorldWritableFiles(user: number | undefined): string[] {
  if (user === undefined) return [];
  return WORLD_WRITABLE_DIRS.flatMap((folder) => {
    try {
      return readdirSync(folder)
        .map((name) => join(folder, name))
        .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.uid === user);
    } catch {
      return [];
    }
  });
}

/** Removes the files of a run there, after its last process has ended. */
export function removeWorldWritableFiles(user: number | undefined): void {
  for (const path of listWorldWritableFiles(user)) {
    try {
      removeTreeSync(path);
    } catch {
      // The file stays: its removal must not delay the end of the run.
    }
  }
}
